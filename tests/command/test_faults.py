# SPDX-License-Identifier: Apache-2.0
"""Faults that manifests for these networks had elsewhere: none is in ours, and each has its test."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path

import pytest
import yaml
from api_objects import SERVICES_BY_DEFAULT, Object
from api_server import ROOT
from hcpnet_command import Hcpnet
from test_render import FORMS, OBSERVED, VLAN, by_name, render

CASES = ROOT / "tests/cpp/data/manifest/cases"


@pytest.fixture(params=FORMS)
def objects(request: pytest.FixtureRequest, hcpnet: Hcpnet) -> list[Object]:
    return render(hcpnet, "--deployment", request.param, "--link", "bridge:br-vlan7,vlan=7")


def deployments(objects: list[Object]) -> list[Object]:
    return [o for o in objects if o["kind"] == "Deployment"]


def pods(objects: list[Object]) -> list[Object]:
    return [o["spec"]["template"] for o in deployments(objects)]


def containers(objects: list[Object]) -> list[Object]:
    return [c for pod in pods(objects) for c in pod["spec"]["containers"]]


def services(objects: list[Object]) -> list[Object]:
    return [o for o in objects if o["kind"] == "Service"]


def network_of(pod: Object) -> list[Object]:
    networks: list[Object] = json.loads(pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"])
    return networks


def render_changed(hcpnet: Hcpnet, folder: Path, old: str, new: str, *arguments: str) -> list[Object]:
    text = VLAN.read_text()
    assert old in text
    (folder / "changed.yaml").write_text(text.replace(old, new))
    done = hcpnet("render", str(folder / "changed.yaml"), "--observed", str(OBSERVED), *arguments)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("part", ["dhcp", "dns", "proxy"])
def test_fault_02_a_disabled_component_leaves_nothing_behind(hcpnet: Hcpnet, tmp_path: Path, part: str) -> None:
    changed = render_changed(
        hcpnet, tmp_path, f"    {part}: {{", f"    {part}: {{enabled: false, ", "--deployment", "split"
    )
    assert not [o for o in changed if o["metadata"]["name"] in (f"vlan7-{part}", f"vlan7-{part}-config")]


@pytest.mark.parametrize("form", FORMS)
def test_fault_03_a_changed_configuration_changes_the_hash(hcpnet: Hcpnet, tmp_path: Path, form: str) -> None:
    def hashes(objects: list[Object]) -> dict[str, str]:
        return {
            o["metadata"]["name"]: o["metadata"]["annotations"]["hcpnet.io/config-hash"] for o in deployments(objects)
        }

    before = hashes(render(hcpnet, "--deployment", form))
    old, new = "hostedClusterRef: {name: red, namespace: hcp}", "hostedClusterRef: {name: scarlet, namespace: hcp}"
    after = hashes(render_changed(hcpnet, tmp_path, old, new, "--deployment", form))
    proxy = "vlan7-network" if form == "one" else "vlan7-proxy"
    assert before.keys() == after.keys()
    assert before[proxy] != after[proxy]
    if form == "coredns-envoy":  # Envoy does not look at its file again
        pod = by_name(render(hcpnet, "--deployment", form))[("Deployment", proxy)]["spec"]["template"]
        assert pod["metadata"]["annotations"]["hcpnet.io/config-hash"] == before[proxy]


@pytest.mark.parametrize("form", ["one", "split"])
def test_fault_04_proxies_that_come_and_go_reach_pods_that_run(hcpnet: Hcpnet, tmp_path: Path, form: str) -> None:
    proxy = "vlan7-network" if form == "one" else "vlan7-proxy"
    before = by_name(render(hcpnet, "--deployment", form))
    whole = VLAN.read_text()
    (red,) = [d for d in whole.split("---\n") if "name: red, namespace: hcp}\nspec" in d]
    after = by_name(render_changed(hcpnet, tmp_path, f"---\n{red}", "", "--deployment", form))
    deployed, changed = before[("Deployment", proxy)], after[("Deployment", proxy)]
    assert changed["spec"]["template"] == deployed["spec"]["template"]  # so that no pod is made anew
    (container,) = changed["spec"]["template"]["spec"]["containers"]
    (config,) = [m["mountPath"] for m in container["volumeMounts"] if m["name"] == "config"]
    assert f"{config}/network.yaml" in container["args"]  # a file that hcpnet up watches, below no subPath
    assert all("subPath" not in mount for mount in container["volumeMounts"])
    texts = [objects[("ConfigMap", f"{proxy}-config")]["data"]["network.yaml"] for objects in (before, after)]
    assert ["clusterName: red" in text for text in texts] == [True, False]


def test_fault_05_every_workload_has_the_constraints_it_needs(objects: list[Object]) -> None:
    bound = {o["subjects"][0]["name"] for o in objects if o["kind"] == "RoleBinding"}
    for pod in pods(objects):
        is_root = pod["spec"]["securityContext"].get("runAsUser") == 0
        assert (pod["spec"]["serviceAccountName"] in bound) == is_root


def test_fault_06_cluster_scoped_names_carry_the_namespace(hcpnet: Hcpnet, tmp_path: Path) -> None:
    def cluster_scoped(objects: list[Object]) -> set[str]:
        return {o["metadata"]["name"] for o in objects if "namespace" not in o["metadata"]}

    here = cluster_scoped(render(hcpnet))
    there = cluster_scoped(render_changed(hcpnet, tmp_path, "namespace: hcp}", "namespace: elsewhere}"))
    assert here
    assert there
    assert not here & there


def test_fault_07_network_policies_open_single_pods_on_pod_ports(objects: list[Object]) -> None:
    opened = set()
    for policy in (o for o in objects if o["kind"] == "NetworkPolicy" and o["metadata"]["namespace"] != "hcp"):
        spec = policy["spec"]
        assert list(spec["podSelector"]["matchLabels"]) == ["app"]
        (rule,) = spec["ingress"]
        (peer,) = rule["from"]
        assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "hcp"}
        assert "app.kubernetes.io/component" in peer["podSelector"]["matchLabels"]
        (port,) = rule["ports"]
        opened.add((policy["metadata"]["namespace"], spec["podSelector"]["matchLabels"]["app"], port["port"]))
    assert opened == {
        (namespace, app, port)
        for namespace in ("hcp-blue", "hcp-red")
        for app, port in (("oauth-openshift", 6443), ("ignition-server-proxy", 8443), ("kube-apiserver", 8091))
    }


def test_fault_08_a_static_address_is_never_there_twice(objects: list[Object]) -> None:
    for deployment in deployments(objects):
        assert deployment["spec"]["replicas"] == 1
        assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    addresses = [ip for pod in pods(objects) for network in network_of(pod) for ip in network["ips"]]
    assert sorted(addresses) == ["192.0.2.2/24", "192.0.2.3/24", "192.0.2.4/24"]
    assert not [o for o in objects if o["kind"] == "PodDisruptionBudget"]  # with one replica it would block every drain


def hosted_cluster(services: list[Object]) -> Object:
    spec = {"platform": {"type": "KubeVirt"}, "dns": {"baseDomain": "hc.example.com"}, "services": services}
    return {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": "blue", "namespace": "hcp"},
        "spec": spec,
    }


def test_fault_09_that_nothing_is_served_is_told(hcpnet: Hcpnet, tmp_path: Path) -> None:
    (infra, *_) = VLAN.read_text().split("---\n")
    (tmp_path / "bare.yaml").write_text(infra[: infra.index("  infraComponents:")])
    done = hcpnet("render", str(tmp_path / "bare.yaml"))
    assert (done.returncode, "[no-component]" in done.stderr) == (0, True), done.stderr
    assert not deployments([o for o in yaml.safe_load_all(done.stdout) if o])


@pytest.mark.parametrize("on_443", [False, True])
def test_fault_10_names_are_those_that_hypershift_publishes(hcpnet: Hcpnet, tmp_path: Path, on_443: bool) -> None:
    vlan = tmp_path / "vlan.yaml"
    vlan.write_text(VLAN.read_text() + ("  publishAPIOn443: true\n" if on_443 else ""))
    # Hosts of Routes are another router's: a VLAN that serves other names serves nobody, and that is told.
    words = ["names", str(vlan), "-", "--apps-domain", "apps.mgmt.example.com"]
    done = hcpnet(*words, stdin=json.dumps(hosted_cluster(SERVICES_BY_DEFAULT)))
    assert done.returncode == 1
    for host in ("oauth-hcp-blue", "konnectivity-server-hcp-blue", "ignition-server-hcp-blue"):
        assert f"{host}.apps.mgmt.example.com" in done.stderr
    # What makes the VLAN's names true, the API by Route on 443 among them.
    made = json.loads(hcpnet("names", "--services", str(vlan), "-o", "json").stdout)["hostedClusters"]
    (services,) = [m["spec"]["services"] for m in made if m["metadata"]["name"] == "blue"]
    done = hcpnet("names", str(vlan), "-", "-o", "json", stdin=json.dumps(hosted_cluster(services)))
    assert done.returncode == 0, done.stderr
    names = {n["host"]: n for n in json.loads(done.stdout)["clusters"][0]["names"]}
    assert names["api.blue.hc.example.com"]["port"] == (443 if on_443 else 6443)
    assert not [host for host in names if host.startswith("api-int")]
    assert "*.apps.blue.hc.example.com" in names


def test_fault_11_unknown_names_do_not_go_to_konnectivity(hcpnet: Hcpnet) -> None:
    for listener in envoy_of(hcpnet)["static_resources"]["listeners"]:
        for chain in listener["filter_chains"]:
            config = chain["filters"][0]["typed_config"]
            if "server_names" not in chain.get("filter_chain_match", {}):
                assert "konnectivity" not in config.get("cluster", "")


def envoy_of(hcpnet: Hcpnet, *arguments: str) -> Object:
    data = by_name(render(hcpnet, "--deployment", "coredns-envoy", *arguments))
    bootstrap: Object = yaml.safe_load(data[("ConfigMap", "vlan7-proxy-config")]["data"]["envoy.yaml"])
    return bootstrap


def test_fault_12_port_6443_serves_several_clusters(hcpnet: Hcpnet) -> None:
    (listener,) = [x for x in envoy_of(hcpnet)["static_resources"]["listeners"] if x["name"].endswith("-6443")]
    targets = {chain["filters"][0]["typed_config"]["cluster"] for chain in listener["filter_chains"]}
    assert targets == {"blue-kube-apiserver", "red-kube-apiserver"}


def test_fault_13_backends_are_not_ipv4_only(hcpnet: Hcpnet) -> None:
    families = {c.get("dns_lookup_family") for c in envoy_of(hcpnet)["static_resources"]["clusters"]}
    assert "V4_ONLY" not in families


@pytest.mark.parametrize("length", [20, 26])
def test_fault_14_the_prefix_length_is_that_of_the_network(hcpnet: Hcpnet, tmp_path: Path, length: int) -> None:
    network = ipaddress.ip_network(f"192.0.2.0/{length}", strict=False)
    text = (
        VLAN.read_text()
        .replace("192.0.2.0/24", str(network))
        .replace("rangeStart: 192.0.2.100", "rangeStart: 192.0.2.30")
    )
    text = text.replace("rangeEnd: 192.0.2.149", "rangeEnd: 192.0.2.40")
    (tmp_path / "changed.yaml").write_text(text)
    done = hcpnet("render", str(tmp_path / "changed.yaml"))
    assert done.returncode == 0, done.stderr
    for pod in pods(list(yaml.safe_load_all(done.stdout))):
        assert {ip.split("/")[1] for network in network_of(pod) for ip in network["ips"]} == {str(length)}


def test_fault_18_the_cache_has_a_number_not_a_zone(hcpnet: Hcpnet) -> None:
    corefile = by_name(render(hcpnet, "--deployment", "coredns-envoy"))[("ConfigMap", "vlan7-dns-config")]["data"][
        "Corefile"
    ]
    caches = [line.split() for line in corefile.splitlines() if line.strip().startswith("cache")]
    assert caches
    assert all(words[1].isdigit() for words in caches)


def corefile_of(hcpnet: Hcpnet) -> str:
    objects = by_name(render(hcpnet, "--deployment", "coredns-envoy"))
    text: str = objects[("ConfigMap", "vlan7-dns-config")]["data"]["Corefile"]
    return text


def test_fault_19_a_service_name_is_no_address_and_wildcards_are_answered(hcpnet: Hcpnet) -> None:
    corefile = corefile_of(hcpnet)
    assert "vlan7-proxy" not in corefile  # what internalProxyService names
    assert "IN A 172.30.9.4" in corefile  # what it means, as observed
    assert "hosts" not in corefile.split()
    assert "IN A 192.0.2.200" in corefile  # *.apps of the first cluster


def test_fault_21_a_known_name_without_that_type_is_not_asked_elsewhere(hcpnet: Hcpnet) -> None:
    templates: list[list[str]] = []
    for line in (line.strip() for line in corefile_of(hcpnet).splitlines()):
        if line.startswith("template "):
            templates.append([])
        if templates:
            templates[-1].append(line)
    for zone in ("blue.hc.example.com.", "red.hc.example.com."):
        no_data = [t for t in templates if t[0] == f"template IN ANY {zone} {{" and "rcode NOERROR" in t]
        assert any(line.startswith("match ^api") for t in no_data for line in t)
        ends = [t[: t.index("}")] for t in templates if t[0] == f"template ANY ANY {zone} {{"]
        assert len(ends) == 2  # one for each view
        assert all("rcode NXDOMAIN" in t and "fallthrough" not in t for t in ends)


def test_fault_20_no_public_resolver_is_made_up(objects: list[Object]) -> None:
    assert "8.8.8.8" not in json.dumps(objects)


def test_fault_22_admin_and_metrics_are_not_on_the_vlan(hcpnet: Hcpnet, objects: list[Object]) -> None:
    assert envoy_of(hcpnet)["admin"]["address"]["socket_address"]["address"] == "127.0.0.1"
    for service in services(objects):
        assert not {9901, 18000} & {p["port"] for p in service["spec"]["ports"]}
    for container in containers(objects):
        words = container.get("args", [])
        if "--observe" in words:
            assert words[words.index("--observe") + 1].startswith("$(POD_IP):")
    for policy in (o for o in objects if o["kind"] == "MultiNetworkPolicy"):
        ports = {p["port"] for rule in policy["spec"]["ingress"] for p in rule["ports"]}
        assert ports <= {53, 67, 80, 443, 6443}


def test_fault_23_a_service_selects_the_pods_of_its_own_network(
    hcpnet: Hcpnet, tmp_path: Path, objects: list[Object]
) -> None:
    (tmp_path / "other.yaml").write_text(VLAN.read_text().replace("vlan7", "vlan8"))
    others = [
        pod["metadata"]["labels"]
        for pod in pods(list(yaml.safe_load_all(hcpnet("render", str(tmp_path / "other.yaml")).stdout)))
    ]
    own = [pod["metadata"]["labels"] for pod in pods(objects)]
    for service in services(objects):
        selector = service["spec"]["selector"].items()
        assert any(selector <= labels.items() for labels in own), service["metadata"]["name"]
        assert not any(selector <= labels.items() for labels in others)


def test_fault_24_no_container_has_more_than_it_needs(objects: list[Object]) -> None:
    for pod in pods(objects):
        security = pod["spec"]["securityContext"]
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert security["sysctls"] == [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]
        for container in pod["spec"]["containers"]:
            own = container["securityContext"]
            assert own["capabilities"]["drop"] == ["ALL"]
            assert own["privileged"] is False
            assert own["allowPrivilegeEscalation"] is False
            serves_dhcp = any(port["containerPort"] == 67 for port in container["ports"])
            added = own["capabilities"].get("add", [])
            if serves_dhcp:
                assert added == ["NET_RAW"]
                assert security["runAsUser"] == 0
            else:
                assert set(added) <= {"NET_BIND_SERVICE"}
                assert security["runAsNonRoot"] is True
    for scc in (o for o in objects if o["kind"] == "SecurityContextConstraints"):
        assert scc["allowedCapabilities"] == ["NET_RAW"]
        assert scc["requiredDropCapabilities"] == ["ALL"]
        assert not any(value for key, value in scc.items() if key.startswith("allow") and key != "allowedCapabilities")


def test_fault_25_every_container_is_probed_and_bounded(objects: list[Object]) -> None:
    for container in containers(objects):
        for name in ("livenessProbe", "readinessProbe", "startupProbe"):
            assert container[name]["httpGet"]["port"] in {9464, 8080, 8181}
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_fault_25_replies_leave_through_the_vlan(objects: list[Object]) -> None:
    (attachment,) = [o for o in objects if o["kind"] == "NetworkAttachmentDefinition"]
    link, routing = json.loads(attachment["spec"]["config"])["plugins"]
    assert routing == {"type": "sbr"}
    covered = [ipaddress.IPv4Network(route["dst"]) for route in link["ipam"]["routes"]]
    assert list(ipaddress.collapse_addresses(covered)) == [ipaddress.IPv4Network("0.0.0.0/0")]
    assert {route["gw"] for route in link["ipam"]["routes"]} == {"192.0.2.1"}


def test_fault_26_roles_name_what_they_allow(objects: list[Object]) -> None:
    for role in (o for o in objects if o["kind"] in ("Role", "ClusterRole")):
        for rule in role["rules"]:
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
            assert rule["resourceNames"]
            assert rule["verbs"] == ["use"]
    for account in (o for o in objects if o["kind"] == "ServiceAccount"):
        assert account["automountServiceAccountToken"] is False


def test_fault_33_port_80_leads_each_name_to_its_own_cluster(hcpnet: Hcpnet) -> None:
    (listener,) = [x for x in envoy_of(hcpnet)["static_resources"]["listeners"] if x["name"].endswith("-80")]
    (chain,) = listener["filter_chains"]
    hosts = chain["filters"][0]["typed_config"]["route_config"]["virtual_hosts"]
    assert {d: host["routes"][0]["route"]["cluster"] for host in hosts for d in host["domains"]} == {
        "*.apps.blue.hc.example.com": "blue-apps-http",
        "*.apps.red.hc.example.com": "red-apps-http",
    }


@pytest.mark.parametrize("form", ["one", "split"])
def test_fault_37_servers_stay_when_the_last_cluster_goes(hcpnet: Hcpnet, tmp_path: Path, form: str) -> None:
    (infra, *_) = VLAN.read_text().split("---\n")
    (tmp_path / "alone.yaml").write_text(infra)
    done = hcpnet("render", str(tmp_path / "alone.yaml"), "--deployment", form)
    assert done.returncode == 0, done.stderr
    alone, before = list(yaml.safe_load_all(done.stdout)), render(hcpnet, "--deployment", form)
    assert [network_of(pod) for pod in pods(alone)] == [network_of(pod) for pod in pods(before)]
    kept = {o["metadata"]["name"] for o in services(before)} - {"blue-proxy-external"}
    assert {o["metadata"]["name"] for o in services(alone)} == kept


def test_fault_39_what_is_public_serves_its_own_names_alone(hcpnet: Hcpnet) -> None:
    external = by_name(render(hcpnet))[("Service", "blue-proxy-external")]
    (port,) = external["spec"]["ports"]
    assert port["port"] == 443
    (listener,) = [
        x for x in envoy_of(hcpnet)["static_resources"]["listeners"] if x["name"].endswith(f"-{port['targetPort']}")
    ]
    (chain,) = listener["filter_chains"]
    assert chain["filter_chain_match"]["server_names"] == ["oauth.blue.hc.example.com"]
    assert ("Service", "red-proxy-external") not in by_name(render(hcpnet))  # not asked for


def test_fault_40_of_an_external_service_only_what_is_ours_is_asked_for(hcpnet: Hcpnet, tmp_path: Path) -> None:
    asked = "labels: {team: net, app.kubernetes.io/name: theirs}, annotations: {note: a}"
    old = "externalService: {enabled: true, addressPoolName: public}"
    changed = render_changed(hcpnet, tmp_path, old, old.replace("}", f", {asked}}}"))
    service = by_name(changed)[("Service", "blue-proxy-external")]
    # An apply leaves what others have written; so no more than this may be in it.
    pool = {"metallb.io/address-pool": "public", "metallb.universe.tf/address-pool": "public"}  # new and old releases
    assert service["metadata"]["annotations"] == {"note": "a", **pool}
    assert service["metadata"]["labels"]["team"] == "net"
    assert service["metadata"]["labels"]["app.kubernetes.io/name"] == "hcpnet"
    assert service["spec"]["externalTrafficPolicy"] == "Cluster"


def test_idle_tunnels_are_not_cut_after_an_hour(hcpnet: Hcpnet) -> None:
    for listener in envoy_of(hcpnet)["static_resources"]["listeners"]:
        for chain in listener["filter_chains"]:
            config = chain["filters"][0]["typed_config"]
            if "cluster" in config:
                assert config["idle_timeout"] == "0s"


def test_case_hcp_16_accounts_agree(objects: list[Object]) -> None:
    """Case HCP-16."""
    accounts = {(o["metadata"]["namespace"], o["metadata"]["name"]) for o in objects if o["kind"] == "ServiceAccount"}
    for deployment in deployments(objects):
        account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
        assert (deployment["metadata"]["namespace"], account) in accounts
    for binding in (o for o in objects if o["kind"] == "RoleBinding"):
        for subject in binding["subjects"]:
            assert (subject["namespace"], subject["name"]) in accounts


def test_case_hcp_16_no_component_has_more_than_it_needs(hcpnet: Hcpnet) -> None:
    """Case HCP-16."""
    data = yaml.safe_load((CASES / "HCP-16.yaml").read_text())
    expected = data["expect"]
    by_component = {
        d["metadata"]["labels"]["app.kubernetes.io/component"]: d["spec"]["template"]["spec"]
        for d in deployments(render(hcpnet, "--deployment", "split"))
    }
    for component in data["components"]:
        pod = by_component[component["name"]]
        assert pod["securityContext"]["seccompProfile"]["type"] == expected["seccompProfile"]
        (container,) = pod["containers"]
        security = container["securityContext"]
        assert security["capabilities"]["drop"] == expected["drop"]
        assert security["privileged"] is expected["privileged"]
        added = set(security["capabilities"].get("add", []))
        assert added <= set(component.get("add_at_most", component.get("add", [])))
        assert added >= set(component.get("add_required", []))
        ports = {f"{p['containerPort']}/{p['protocol']}" for p in container["ports"]}
        assert ports >= set(component["ports"])


def test_an_attachment_that_multus_would_refuse_is_told(hcpnet: Hcpnet, tmp_path: Path) -> None:
    text = VLAN.read_text()
    for namespace, is_told in (("default", False), ("hcp", False), ("networks", True)):
        more = f"networkAttachmentDefinition: vlan7\n    networkAttachmentNamespace: {namespace}\n"
        (tmp_path / "x.yaml").write_text(text.replace("networkAttachmentDefinition: vlan7\n", more))
        done = hcpnet("render", str(tmp_path / "x.yaml"))
        assert done.returncode == 0, done.stderr
        assert ("[attachment-namespace]" in done.stderr) == is_told
