"""From a picture of a table to what each square may hold: locate and rectify the board, recognise the squares."""
