"""A service and a page on which a person sees a filter work."""
