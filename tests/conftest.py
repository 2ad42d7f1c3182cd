"""Settings of the whole suite; being here, it also makes ``helpers`` importable from every test folder."""

from hypothesis import settings

settings.register_profile("suite", deadline=None, max_examples=25, derandomize=True, database=None)
settings.load_profile("suite")
