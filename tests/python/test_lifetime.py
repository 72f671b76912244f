# SPDX-License-Identifier: Apache-2.0
"""hcpnet.Stack and the GIL, exceptions, garbage collection, fork and interpreter exit.

Nothing hangs, and nothing ends the process.
"""

import gc
import multiprocessing
import os
import subprocess
import textwrap
import threading
import weakref
from pathlib import Path

import hcpnet
import pytest
from support import Vlan, ask, bound, daemon_threads, run_script


def run_with_vlan(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a new interpreter with `vlan` in `folder`."""
    prelude = f"""
        import pathlib
        from support import Vlan, ask, bound
        vlan = Vlan(pathlib.Path({str(folder)!r}))
        vlan.write("blue")
    """
    return run_script(textwrap.dedent(prelude) + textwrap.dedent(script))


def test_ending_while_callbacks_run_never_hangs(tmp_path: Path) -> None:
    """Case PYB-01."""
    done = run_with_vlan(
        tmp_path,
        """
        import gc, threading, time
        def serve(vlan, i):
            inside = threading.Event()
            def callback(event):
                inside.set()
                time.sleep(0.002)  # lets go of the GIL, and wants it back while the stack is being ended
            stack = hcpnet.Stack(**vlan.options(), watch=True, on_event=callback)
            stack.start()
            vlan.write("blue" if i % 2 else "green")
            assert inside.wait(30)
            if i % 3 == 0:
                stack.stop()
            if i % 3 == 1:
                raise RuntimeError("unwinds over a running stack")
        ended = []
        def serve_often(own):
            own.folder.mkdir()
            own.write("blue")
            for i in range(25):
                try:
                    serve(own, i)
                except RuntimeError:
                    gc.collect()
                ended.append(i)
        threads = [threading.Thread(target=serve_often, args=[Vlan(vlan.folder / str(t))]) for t in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ended) == 200
        print("alive")
        """,
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


@pytest.mark.parametrize("raised", ["ValueError('told')", "SystemExit(3)", "KeyboardInterrupt()"])
def test_an_exception_in_a_callback_is_reported_and_survived(tmp_path: Path, raised: str) -> None:
    """Case PYB-03."""
    done = run_with_vlan(
        tmp_path,
        f"""
        def callback(event):
            raise {raised}
        with hcpnet.Stack(**vlan.options(), on_event=callback) as stack:
            stack.reload()
            assert ask(bound(stack, "dns", 53), "api.blue.example.com") == (0, ["127.81.1.4"])
        print("alive")
        """,
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
    assert raised.split("(")[0] in done.stderr


def test_an_open_stack_does_not_keep_the_interpreter(tmp_path: Path) -> None:
    done = run_with_vlan(
        tmp_path,
        """
        stack = hcpnet.Stack(**vlan.options(), log=lambda record: None)
        stack.start()
        sys.stack = stack  # outlives the module
        print("alive")
        """,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


@pytest.mark.parametrize(
    "call",
    [
        "stack.listeners()",
        "stack.stats(); stack.zones()",
        "stack.reload()",
        "stack.warnings(); stack.metrics(); stack.route('', 6443, '127.81.1.9')",
        "hcpnet.check_files([vlan.file])",
    ],
)
def test_the_interpreter_ends_while_daemon_threads_call(tmp_path: Path, call: str) -> None:
    done = run_with_vlan(
        tmp_path,
        f"""
        import threading
        stack = hcpnet.Stack(**vlan.options(), on_event=lambda event: None, log=lambda record: None)
        stack.start()
        {daemon_threads(call)}
        """,
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
    assert "Fatal" not in done.stderr


def test_the_interpreter_ends_while_a_daemon_thread_waits_for_files(tmp_path: Path) -> None:
    done = run_with_vlan(
        tmp_path,
        """
        import os, threading
        reader, writer = os.pipe()
        begun = threading.Event()
        def work():
            begun.set()
            hcpnet.check_files([f"/dev/fd/{reader}"])
        threading.Thread(target=work, daemon=True).start()
        assert begun.wait(30)
        print("alive", flush=True)
        """,
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def test_the_interpreter_ends_while_a_callback_runs(tmp_path: Path) -> None:
    done = run_with_vlan(
        tmp_path,
        """
        import threading, time
        inside = threading.Event()
        def callback(event):
            inside.set()
            time.sleep(0.05)
            print("returned", flush=True)
        stack = hcpnet.Stack(**vlan.options(), on_event=callback)
        stack.start()
        threading.Thread(target=stack.reload, daemon=True).start()
        assert inside.wait(30)
        """,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "returned\n", "")


def test_a_callback_cannot_call_its_stack(vlan: Vlan) -> None:
    said: list[str] = []

    def callback(event: hcpnet.StackEvent) -> None:
        for call in (stack.leases, stack.stop, stack.reload):
            with pytest.raises(hcpnet.Error) as error:
                call()
            said.append(str(error.value))

    with hcpnet.Stack(**vlan.options(), on_event=callback) as stack:
        stack.reload()
    assert said == ["a callback must not call the stack that called it"] * 3


def test_stop_lets_go_of_the_callbacks(vlan: Vlan) -> None:
    class Owner:
        def __init__(self) -> None:
            self.stack = hcpnet.Stack(**vlan.options(), on_event=self.on_event)

        def on_event(self, event: hcpnet.StackEvent) -> None: ...

    owner = Owner()
    seen = weakref.ref(owner)
    with owner.stack:
        pass
    del owner
    gc.collect()
    assert seen() is None


def test_other_threads_run_while_a_stack_is_asked(vlan: Vlan) -> None:
    with hcpnet.Stack(**vlan.options(), on_event=lambda event: None) as stack:

        def reload_often() -> None:
            for _ in range(20):
                stack.reload()

        threads = [threading.Thread(target=reload_often) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(50):
            stack.leases()
        for thread in threads:
            thread.join()
        # requests that overlap share a reload
        assert 20 <= stack.stats().reloads <= 80


def test_a_stopped_stack_says_so(vlan: Vlan) -> None:
    stack = hcpnet.Stack(**vlan.options())
    stack.stop()
    stack.stop()
    with pytest.raises(hcpnet.Error, match="does not start again"):
        stack.start()


def test_a_running_stack_does_not_start_twice(vlan: Vlan) -> None:
    with hcpnet.Stack(**vlan.options()) as stack, pytest.raises(hcpnet.Error, match="runs already"):
        stack.start()


def test_only_callables_are_callbacks(vlan: Vlan) -> None:
    with pytest.raises(TypeError, match="callable"):
        hcpnet.Stack(**vlan.options(), on_event=3)  # type: ignore[arg-type]


def _child(folder: Path, stack: hcpnet.Stack) -> tuple[str, tuple[int, list[str]]]:
    with pytest.raises(hcpnet.Error) as error:
        stack.leases()
    stack.stop()  # nothing to do here
    folder.mkdir()
    vlan = Vlan(folder)
    vlan.write("green")
    with hcpnet.Stack(**vlan.options()) as own:
        return str(error.value), ask(bound(own, "dns", 53), "api.green.example.com")


def test_a_forked_child_makes_its_own(vlan: Vlan) -> None:
    """Case PYB-09."""
    with hcpnet.Stack(**vlan.options(), on_event=lambda event: None) as stack:
        reader, writer = multiprocessing.Pipe(duplex=False)
        child = os.fork()
        if child == 0:
            try:
                writer.send(_child(vlan.folder / "child", stack))
                del stack
                gc.collect()
            finally:
                os._exit(0)
        assert reader.poll(60), "the child hangs"
        said, answer = reader.recv()
        os.waitpid(child, 0)
        assert "fork" in said
        assert answer == (0, ["127.81.1.4"])
        assert ask(bound(stack, "dns", 53), "api.blue.example.com") == (0, ["127.81.1.4"])


def test_sockets_of_the_service_manager_are_served(tmp_path: Path) -> None:
    done = run_with_vlan(
        tmp_path,
        """
        import os, socket
        listener = socket.create_server(("127.81.1.4", 0))
        port = listener.getsockname()[1]
        assert listener.detach() == 3, "the first that a service manager hands over"
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        options = vlan.options()
        options["port_map"][443] = port
        with hcpnet.Stack(**options, service_manager_sockets=True) as stack:
            assert bound(stack, "proxy", 443) == ("127.81.1.4", port)
            socket.create_connection(("127.81.1.4", port)).close()
        print("served")
        """,
    )
    assert (done.stdout, done.stderr) == ("served\n", "")
