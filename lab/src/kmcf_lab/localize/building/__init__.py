"""A simulated building for vision: a ray-casting renderer, and a robot that drives laps with camera and odometry."""

from kmcf_lab.localize.building.building import Building
from kmcf_lab.localize.building.camera import Camera
from kmcf_lab.localize.building.dataset import FRAME_INTERVAL, simulated_building
from kmcf_lab.localize.building.lighting import LIGHTINGS, Lighting
from kmcf_lab.localize.building.plan import FloorPlan, Space, Wall
from kmcf_lab.localize.building.protocol import PAPER_STEPS, LocalizationTask, localization_task

__all__ = [
    "FRAME_INTERVAL",
    "LIGHTINGS",
    "PAPER_STEPS",
    "Building",
    "Camera",
    "FloorPlan",
    "Lighting",
    "LocalizationTask",
    "Space",
    "Wall",
    "localization_task",
    "simulated_building",
]
