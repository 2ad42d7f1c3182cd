"""All tables that are written from raw numbers."""

from . import accuracy, learning, operation, paper, real_data, scale, speed, uncertainty

PAGES = (speed, scale, accuracy, learning, uncertainty, real_data, paper, operation)
TABLES = [table for page in PAGES for table in page.TABLES]
