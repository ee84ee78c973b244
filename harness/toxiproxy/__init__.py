"""Toxiproxy: the server found or built, and its control wrapped so that what returns, holds."""
