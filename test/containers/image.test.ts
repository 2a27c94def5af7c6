/** The image of deploy/Dockerfile: read-only, not as root, without capabilities. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {test} from "node:test";
import {decodeHex} from "../../client/bytes/hex.ts";
import {sha256Suite} from "../../client/hash/hashSuites.ts";
import {waitForCoverage} from "../support/http/followingDaemon.ts";
import {verifyProof} from "../support/reference/exactProof.ts";
import {waitUntil} from "../support/wait.ts";
import {Container, run, tryToRun} from "./container.ts";
import {HARDENED, IMAGE, Podman} from "./podman.ts";

const podman = Podman.ofRun();
const LAST = "0x64";
/** An account of the demo chain. */
const SENDER = "0x5388ec1a76991e8bd86669888458fbab8b5278f7";
const HOST = ["--host", "0.0.0.0"];
const MAIN = "/app/dist/cli/main.js";

async function expectProof(service: Container): Promise<void> {
  await waitForCoverage(service, "finalized", LAST);
  const {result: held} = await service.call("chain_getStateRoot", [LAST]);
  const {result} = await service.call("chain_getProof", [SENDER, [], LAST]);
  assert.notEqual(verifyProof(sha256Suite, decodeHex(held.stateRoot), SENDER, [], result).account, undefined);
}

test("the image serves the demo read-only and not as root, is healthy, ends by SIGTERM, and the next version continues with its volume", async () => {
  const volume = [...HARDENED, "--volume", "demo:/data"];
  const demo = await Container.start(
    podman,
    "demo",
    ...volume,
    IMAGE,
    "serve",
    "--demo",
    "--db",
    "/data/db",
    ...HOST,
  );
  await expectProof(demo);
  await run(podman, "healthcheck", "run", "demo");
  const inside = (...command: string[]) => tryToRun(podman, "exec", "demo", ...command);
  assert.equal((await inside("id", "-u")).stdout, "1000\n");
  assert.match((await inside("touch", "/app/x")).stderr, /Read-only file system/);
  const version = (await inside("node", MAIN, "version")).stdout;
  assert.match(version, /^HTTP uWebSockets\.js$/m);
  // A worktree has a file for this folder.
  if (existsSync(new URL(".git/HEAD", import.meta.resolve("#package/package.json"))))
    assert.match(version, /^commit [0-9a-f]{8}$/m);
  assert.equal(await demo.stop(), 0);
  assert.match(demo.stderr, /"signal":"SIGTERM"/);

  const next = `FROM ${IMAGE}\nUSER root\nRUN sed -i 's/"version": "0.1.0"/"version": "0.1.1"/' /app/package.json\nUSER node\n`;
  podman.runWith(next, "build", "--isolation=chroot", "--pull=never", "-t", "proofd:0.1.1", "-");
  // The image's own command.
  const upgraded = await Container.start(podman, "upgraded", ...volume, "proofd:0.1.1");
  await expectProof(upgraded);
  const announced = JSON.parse((await run(podman, "logs", "upgraded")).split("\n")[0] as string);
  assert.deepEqual([announced.version, announced.finalized], ["0.1.1", 100]);
  assert.equal(await upgraded.stop(), 0);
});

test("a container that can never work ends with exit code 2 and a sentence", async () => {
  const feed = ["--feed", "nats://127.0.0.1:9", "--chain-id", "1"];
  for (const [args, message] of [
    [[], /^error: cannot open the store in \/data\/db: .* holds no store/m],
    [
      ["serve", "--db", "/data", ...feed],
      /^error: --feed: .*\/data is the top of a mounted volume.* such as \/data\/db$/m,
    ],
    [["serve", "--db", "/srv/db", ...feed], /^error: --feed: .*\/srv cannot be written/m],
    [["serve", "--config", "/etc/proofd.conf"], /^error: .*\/etc\/proofd\.conf/m],
  ] as const) {
    const {code, stderr} = await tryToRun(
      podman,
      "run",
      "--rm",
      "--no-healthcheck",
      ...HARDENED,
      IMAGE,
      ...args,
    );
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /^ +at /m);
    assert.equal(code, 2, stderr);
  }
});

test("a replica whose broker is away says so once, and SIGTERM ends it with 0 at once", async () => {
  const feed = ["--feed", "nats://127.0.0.1:9", "--chain-id", "1"];
  await run(
    podman,
    "run",
    "--detach",
    "--name",
    "away",
    ...HARDENED,
    IMAGE,
    "serve",
    "--db",
    "/data/db",
    ...feed,
  );
  const read = async () => (await tryToRun(podman, "logs", "away")).stderr;
  const said = async () =>
    (await read()).match(/"reason":"connection refused","msg":"NATS does not answer/g)?.length;
  await waitUntil("the replica to look for its broker", async () => (await said()) !== undefined);
  await run(podman, "stop", "--time", "15", "away");
  assert.equal(await run(podman, "inspect", "--format", "{{.State.ExitCode}}", "away"), "0");
  assert.equal(await said(), 1);
  assert.doesNotMatch(await read(), /^ +at |^error/m);
});
