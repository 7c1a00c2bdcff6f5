"""The workshop where the eyes are made: scenes drawn from seeds, a network trained on them, its sets calibrated.

``python -m calibration.training`` makes everything from nothing. The running program never imports this package; what
crosses over is the model file and its card.
"""
