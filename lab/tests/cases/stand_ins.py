"""Small made-up data in the formats of the recorded ones."""

import numpy as np

POSTS = {6: (3.0, 0.0), 7: (0.0, 3.0), 8: (-3.0, 0.0), 9: (0.0, -3.0)}


def radio_folder(folder, tracks=3, seconds=24, seed=0):
    """Walks around a square of 8 m, each in its own direction and pace, heard by four receivers in the corners."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0], [8, 0], [8, 8], [0, 8]], dtype=float)
    for number in range(tracks):
        lines = []
        for time in np.arange(0.0, seconds, 0.25):
            along = (0.15 * time * (1 + 0.1 * number) + number) % 4
            start, end = corners[int(along)], corners[(int(along) + 1) % 4]
            x, y = start + (along % 1) * (end - start)
            for receiver, (a, b) in enumerate(corners):
                strength = -40 - 20 * np.log10(0.5 + np.hypot(x - a, y - b)) + rng.normal()
                lines.append(f"{1000 + time:.3f},receiver{receiver},beacon,{strength:.2f},{x:.4f},{y:.4f},1.0")
        (folder / f"walk_{number}_all_sensors.mbd").write_text("\n".join(lines) + "\n")
    return folder


def mrclam_folder(folder, seconds=100):
    """Five robots that drive circles of the same size, each begun elsewhere, and see posts ahead of them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Barcodes.dat").write_text("".join(f"{subject} {subject + 100}\n" for subject in (1, 2, 3, 4, 5, *POSTS)))
    posts = "".join(f"{subject} {x} {y} 0.01 0.01\n" for subject, (x, y) in POSTS.items())
    (folder / "Landmark_Groundtruth.dat").write_text(posts)
    for robot in range(1, 6):
        truth, commands, seen = [], [], []
        for k, time in enumerate(np.arange(0.0, seconds, 0.1)):
            angle = 0.2 * time + robot
            x, y, heading = 1.5 * np.sin(angle), -1.5 * np.cos(angle), np.angle(np.exp(1j * angle))
            truth.append(f"{time:.3f} {x:.6f} {y:.6f} {heading:.6f}")
            commands.append(f"{time:.3f} 0.3 0.2")
            for subject, (a, b) in POSTS.items():
                bearing = np.angle(np.exp(1j * (np.arctan2(b - y, a - x) - heading)))
                if k % 10 == 3 and abs(bearing) < 0.5:
                    seen.append(f"{time:.3f} {subject + 100} {np.hypot(a - x, b - y):.4f} {bearing:.4f}")
        for kind, lines in (("Groundtruth", truth), ("Odometry", commands), ("Measurement", seen)):
            (folder / f"Robot{robot}_{kind}.dat").write_text("\n".join(lines) + "\n")
    return folder


def carmen_file(path, scans=200):
    """A robot that goes round a circle within a square room, again and again."""
    lines = []
    beams = np.linspace(-np.pi / 2, np.pi / 2, 36)
    for k in range(scans):
        angle = 2 * np.pi * k / 90
        x, y, heading = 2 * np.sin(angle), 1 - 2 * np.cos(angle), np.angle(np.exp(1j * angle))
        directions = heading + beams
        with np.errstate(divide="ignore"):
            across = np.where(np.cos(directions) > 0, 5 - x, -4 - x) / np.cos(directions)
            up = np.where(np.sin(directions) > 0, 6 - y, -3 - y) / np.sin(directions)
        ranges = " ".join(f"{r:.3f}" for r in np.minimum(np.abs(across), np.abs(up)))
        pose = f"{x:.6f} {y:.6f} {heading:.6f}"
        if k:
            lines.append(f"ODOM {pose} 0 0 0 {k - 0.5} host {k - 0.5}")
        lines.append(f"FLASER {len(beams)} {ranges} {pose} {pose} {k} host {k}")
    path.write_text("\n".join(lines) + "\n")
    return path


def cold_folder(folder, sequences=3, images=60):
    """Drives past a wall of stripes whose width tells the place."""
    import cv2

    for number in range(sequences):
        sequence = folder / f"seq{number}"
        (sequence / "std_cam").mkdir(parents=True)
        (sequence / "odom_scans").mkdir()
        rows = []
        for k in range(images):
            x, time = 0.15 * k + 0.05 * number, 1000.0 + 0.5 * k
            columns = np.arange(64) + 40 * x
            pixels = 128 + 100 * np.sin(columns * (0.1 + 0.05 * x))[None, :] * np.ones((48, 1))
            name = f"t{time:.6f}_x{x:.6f}_y0.000000_a0.000000.jpeg"
            (sequence / "std_cam" / name).write_bytes(cv2.imencode(".jpeg", pixels.astype(np.uint8))[1].tobytes())
            rows.append(f"0 0 0 {int(time)} {int(time % 1 * 1e6)} 2 0 6 {x} 0.0 0 0.0 0 0")
        (sequence / "odom_scans" / "odom.tdf").write_text("\n".join(rows) + "\n")
    return folder
