/** deploy/proofd.service, run by systemd in a container. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {waitForCoverage} from "../support/http/followingDaemon.ts";
import {notRun} from "../support/processes/notRun.ts";
import {waitUntil} from "../support/wait.ts";
import {SERVICES_IMAGE} from "./baseImages.ts";
import {Container, run, tryToRun} from "./container.ts";
import {IMAGE, Podman} from "./podman.ts";

const UNIT = fileURLToPath(new URL("./deploy/proofd.service", import.meta.resolve("#package/package.json")));
/** npm's prefix is none of those that systemd looks into. */
const MACHINE = `FROM ${SERVICES_IMAGE}
COPY --from=${IMAGE} /usr/local /opt/node
COPY --from=${IMAGE} /app /opt/node/lib/node_modules/proofd
RUN ln -s ../lib/node_modules/proofd/dist/cli/main.js /opt/node/bin/proofd && chmod +x /opt/node/bin/proofd
`;
/** Systems with both versions of control groups have the second one here. */
const GROUPS = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find(path => existsSync(`${path}/cgroup.procs`));

test("the unit runs proofd from any prefix with flags that only root can read, and does not restart for ever without a file or program", async t => {
  if (GROUPS === undefined) return notRun(t, "no control groups of version 2 here");
  const podman = Podman.ofRun();
  podman.runWith(MACHINE, "build", "--isolation=chroot", "--pull=never", "-t", "machine", "-");
  const mounted = ["--volume", `${UNIT}:/etc/systemd/system/proofd.service:ro`];
  const flags = [
    ...mounted,
    "--privileged",
    "--systemd=always",
    "--cgroupns=host",
    "--volume",
    `${GROUPS}:/sys/fs/cgroup`,
  ];
  await run(podman, "run", "--detach", "--name", "machine", ...flags, "machine", "/lib/systemd/systemd");
  const shell = (text: string) => tryToRun(podman, "exec", "machine", "sh", "-c", text);
  const show = async (name: string) =>
    (await shell(`systemctl show proofd --value -p ${name}`)).stdout.trim();
  /** Starts it, and waits for what becomes of it. "activating": it is started again. */
  const expectEnd = async (status: string): Promise<void> => {
    await shell("systemctl start proofd");
    await waitUntil(
      `proofd.service to end with ${status}`,
      async () => (await show("ActiveState")) === "failed",
    );
    assert.equal(await show("ExecMainStatus"), status);
    assert.equal(await show("NRestarts"), "0");
  };
  const write = (path: string, text: string) =>
    shell(`install -D -m 600 /dev/null ${path} && printf '${text}' > ${path} && systemctl daemon-reload`);

  await waitUntil("systemd to answer", async () => (await shell("systemctl show")).code === 0);
  // Outside of containers, systemd has it so from the start.
  assert.equal((await shell("mount --make-rshared /")).code, 0);
  await expectEnd("243");
  await write("/etc/proofd/proofd.conf", "db = /var/lib/proofd/db\\nhost = 0.0.0.0\\ndemo = true\\n");
  await expectEnd("127");
  const unit = "/etc/systemd/system/proofd.service.d/override.conf";
  await write(unit, "[Service]\\nEnvironment=PATH=/opt/node/bin:/usr/bin\\n");
  await shell("systemctl start proofd");
  await waitForCoverage(await Container.find(podman, "machine"), "finalized", "0x64");
  await shell("systemctl stop proofd");
  assert.equal(await show("Result"), "success");
  await write("/etc/proofd/proofd.conf", "db = /var/lib/proofd/db\\nfees = /etc/proofd/missing.json\\n");
  await expectEnd("2");
  await run(podman, "rm", "--force", "--time", "0", "machine");
});
