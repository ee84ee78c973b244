"""Pictures as geometry: where things stand, in per cent of a picture's width. Templates draw them."""
