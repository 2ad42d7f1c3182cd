"""The ABC setting of Section 2: observations can be simulated, their density cannot be written down."""
