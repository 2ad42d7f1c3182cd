"""How JAX compiles in the tests: two devices to share batches, and little time spent on compiling well."""

from importlib.metadata import PackageNotFoundError, version


def _jaxlib():
    try:
        return version("jaxlib")
    except PackageNotFoundError:
        return ""


_FLAGS = ["--xla_force_host_platform_device_count=2", "--xla_backend_optimization_level=0"]
if _jaxlib().startswith("0.10."):  # a flag that a version does not know would end the process
    _FLAGS += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]

XLA_FLAGS = " ".join(_FLAGS)
