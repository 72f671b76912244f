# SPDX-License-Identifier: Apache-2.0
"""Compares how fast objects become YAML here, with PyYAML's C emitter and in kustomize; run by scripts/bench manifest.

The objects are those of many clusters, about 40 each, and the same for all. Each program writes them in turn, round
after round; a figure is the median of its rounds, a ratio the median of the ratios inside each round.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import yaml


def write_with_pyyaml(path: Path) -> dict:
    """One round of Python, in a process of its own, so that its memory is its own too."""
    script = Path(__file__).resolve()
    done = subprocess.run([sys.executable, script, "--pyyaml", path], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def pyyaml_round(path: Path) -> None:
    """Read the objects, write them as YAML, and say what the writing took."""
    clusters = json.loads(path.read_text())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    size = sum(len(yaml.dump_all(c, Dumper=yaml.CSafeDumper, sort_keys=False)) for c in clusters)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "bytes": size, "peak_kib": peak, "read_kib": before}))


def write_with_kustomize(kubectl: str, cluster: list[dict], folder: Path) -> float:
    """Seconds for one cluster, the start of the program included: it writes one set at a time."""
    folder.mkdir(exist_ok=True)
    names = []
    for number, found in enumerate(cluster):
        names.append(f"{number:03}.json")
        (folder / names[-1]).write_text(json.dumps(found))
    (folder / "kustomization.yaml").write_text(json.dumps({"resources": names}))
    start = time.perf_counter()
    subprocess.run([kubectl, "kustomize", folder], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", default="build/release/bench/manifest_render", help="the program that renders")
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kubectl", default="", help="kubectl, for kustomize; empty: left out")
    parser.add_argument("--pyyaml", type=Path, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.pyyaml:
        return pyyaml_round(a.pyyaml)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "objects.json"
        ours, theirs, third = [], [], []
        for number in range(a.rounds):
            command = [a.render, str(a.clusters), "1", str(file)]
            ours.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
            theirs.append(write_with_pyyaml(file))
            if a.kubectl:
                clusters = json.loads(file.read_text())
                third.append(write_with_kustomize(a.kubectl, clusters[number % len(clusters)], folder / "kustomize"))
    count = ours[0]["objects"]
    per_cluster = count / a.clusters
    ratios = [their["seconds"] / our["yaml_seconds"][0] for our, their in zip(ours, theirs, strict=True)]
    print(f"\n### {count} objects of {a.clusters} clusters, {ours[0]['bytes'] / 1e6:.1f} MB of YAML\n")
    print("| program | objects/s | hcpnet writes so many times as many | peak memory |")
    print("| --- | --- | --- | --- |")
    rate = median(count / o["yaml_seconds"][0] for o in ours)
    print(f"| hcpnet, objects to YAML | {rate:,.0f} | | {ours[0]['peak_kib'] / 1024:.0f} MiB |")
    whole = median(count / (o["yaml_seconds"][0] + o["build_seconds"][0]) for o in ours)
    print(f"| hcpnet, specs to YAML | {whole:,.0f} | | the same process |")
    rate = median(count / t["seconds"] for t in theirs)
    peak = theirs[0]["peak_kib"] / 1024
    print(f"| PyYAML {yaml.__version__}, C emitter | {rate:,.0f} | {median(ratios):.1f} | {peak:.0f} MiB |")
    if third:
        rate = median(per_cluster / seconds for seconds in third)
        ratio = median((seconds * a.clusters) / o["yaml_seconds"][0] for seconds, o in zip(third, ours, strict=True))
        print(f"| kubectl kustomize, a run for each cluster | {rate:,.0f} | {ratio:.1f} | |")
    print("\nTarget: 20 times PyYAML's C emitter.")


if __name__ == "__main__":
    main()
