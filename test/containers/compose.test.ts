/** The compose files, run by podman-compose as they are, but for ports, and limits that this machine's root may not set. */
import assert from "node:assert/strict";
import {chmod, copyFile, cp, readFile, writeFile} from "node:fs/promises";
import {connect} from "node:http2";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {AskedService} from "../support/http/askedService.ts";
import {waitForMetric} from "../support/http/followingDaemon.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {ask} from "../support/processes/edge.ts";
import {findProgram} from "../support/processes/foundProgram.ts";
import {findPorts} from "../support/processes/freePorts.ts";
import {notRun} from "../support/processes/notRun.ts";
import {waitUntil} from "../support/wait.ts";
import {Container, run} from "./container.ts";
import {Podman} from "./podman.ts";
import {TwoLayers} from "./twoLayers.ts";

const ROOT = new URL("./", import.meta.resolve("#package/package.json"));
const podman = Podman.ofRun();
const lack =
  findProgram("podman-compose") === undefined ? "no podman-compose in PATH (Debian, PyPI)" : undefined;

/** Of Prometheus' answers, as much as is used here. */
interface PrometheusData {
  readonly activeTargets?: readonly {
    readonly health: string;
    readonly labels: Readonly<Record<string, string>>;
  }[];
  readonly groups?: readonly {readonly rules: readonly {readonly name: string}[]}[];
}

/** A copy of deploy/, in which a compose file runs. */
class Project {
  private constructor(
    readonly folder: WorkFolder,
    readonly name: string,
    private readonly file: string,
    /** Of this machine, by the one that stands in the file. */
    private readonly ports: ReadonlyMap<number, number>,
  ) {}

  static async create(name: string, file: string): Promise<Project> {
    const folder = new WorkFolder();
    await cp(fileURLToPath(new URL("deploy", ROOT)), folder.file(name), {recursive: true});
    const path = folder.file(`${name}/${file}`);
    const text = await readFile(path, "utf8");
    const named = [...text.matchAll(/"127\.0\.0\.1:(\d+):\d+"/g)].map(([, port]) => Number(port));
    const free = await findPorts(named.length);
    const ports = new Map(named.map((port, at) => [port, free[at] as number]));
    const changed = text
      .replaceAll(/(?<="127\.0\.0\.1:)\d+/g, port => String(ports.get(Number(port))))
      // With limits of its own, podman leaves out those that this test sets for all containers.
      .replaceAll(/ +ulimits:\n +nofile: \d+\n/g, "");
    await writeFile(path, changed);
    return new Project(folder, name, file, ports);
  }

  path(name: string): string {
    return join(this.folder.file(this.name), name);
  }

  port(named: number): number {
    return this.ports.get(named) as number;
  }

  async compose(...args: readonly string[]): Promise<void> {
    const command = ["--file", this.path(this.file), ...args];
    const {code, stdout, stderr} = await runChild("podman-compose", command, {
      env: podman.environment,
      cwd: this.folder.file(this.name),
    });
    assert.equal(code, 0, stdout + stderr);
  }

  container(service: string): string {
    return `${this.name}_${service}_1`;
  }

  async remove(): Promise<void> {
    await this.compose("down", "--timeout", "1");
  }

  /** Waits until Prometheus has read all these, and has all alerts of the file. */
  async expectPrometheus(...targets: readonly string[]): Promise<void> {
    const read = async (path: string): Promise<PrometheusData> => {
      const answer = await fetch(`http://127.0.0.1:${this.port(9090)}/api/v1/${path}`);
      return ((await answer.json()) as {data: PrometheusData}).data;
    };
    await waitUntil(`Prometheus to read ${targets}`, async () => {
      const data = await read("targets").catch(() => undefined); // it starts
      const up = data?.activeTargets?.filter(({health}) => health === "up") ?? [];
      return targets.every(target => up.some(({labels}) => labels.instance === `${target}:9545`));
    });
    const {groups = []} = await read("rules");
    const names = groups.flatMap(({rules}) => rules.map(({name}) => name));
    const text = await readFile(this.path("prometheus/alerts.yml"), "utf8");
    assert.deepEqual(
      names,
      Array.from(text.matchAll(/- alert: (\w+)/g), ([, name]) => name),
    );
  }
}

/** What clients of HAProxy reach. */
class EdgeService extends AskedService {
  constructor(
    readonly url: string,
    private readonly certificate: string,
    private readonly publisher: Container,
  ) {
    super();
  }

  /** Of the one that everything comes from. */
  override get stderr(): string {
    return this.publisher.stderr;
  }

  /** Each try on a connection of its own: HAProxy closes idle ones. */
  override async post(body: string): Promise<{status: number; text: string}> {
    let text = "";
    // Others come while HAProxy starts, no replica has a finalized block, or both are late for a check of their health.
    await waitUntil(`HAProxy to answer ${body} with 200`, async () => {
      const session = connect(this.url, {ca: this.certificate});
      session.on("error", () => {}); // the request sees it
      const answer = await ask(session, body)
        .catch(() => undefined)
        .finally(() => session.destroy());
      text = String(answer?.body);
      return answer?.status === 200;
    });
    return {status: 200, text};
  }
}

test("compose.yml needs no change: it serves the demo, and Prometheus reads it", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const project = await Project.create("single", "compose.yml");
  t.after(() => project.remove());
  // Grafana is no package of Debian.
  await project.compose("up", "--detach", "proofd", "prometheus");
  await waitForMetric(
    await Container.find(podman, project.container("proofd"), 9545),
    'proofd_head_block{which="finalized"} 100',
  );
  await project.expectPrometheus("proofd");
});

test("compose-replicas.yml follows two layers, and proofs come through HAProxy from replicas, also from one that begins with a snapshot, and without a broker", async t => {
  if (lack !== undefined) return notRun(t, lack);
  const project = await Project.create("replicas", "compose-replicas.yml");
  const layers = await TwoLayers.start(project.folder.path);
  if (typeof layers === "string") return notRun(t, layers);
  const {cert, key} = JSON.parse(
    await readFile(new URL("test/fixtures/own/tlsPairs.json", ROOT), "utf8"),
  ).first;
  const {l2, l1, rollup, chainId} = layers.settings;
  const variables = {PROOFD_L2: l2, PROOFD_L1: l1, PROOFD_ROLLUP: rollup, PROOFD_CHAIN_ID: chainId};
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(project.path(".env"), lines.join(""));
  await writeFile(project.path("proofd.pem"), cert + key);
  await chmod(project.path("proofd.pem"), 0o644);
  await copyFile(layers.layer2.genesisPath, project.path("genesis.json"));
  try {
    const early = ["n1", "n2", "n3", "publisher", "replica1", "haproxy", "prometheus"];
    await project.compose("up", "--detach", ...early);
    const url = `https://localhost:${project.port(8443)}`;
    const publisher = await Container.find(podman, project.container("publisher"), 9545);
    const edge = new EdgeService(url, cert, publisher);
    const first = await layers.grow(6);
    await layers.expectProofs(edge, first);

    await publisher.until("a snapshot for replicas", async () =>
      /^proofd_published_snapshot_block \d/m.test((await publisher.get("/metrics")).text),
    );
    await project.compose("up", "--detach", "replica2");
    const late = await Container.find(podman, project.container("replica2"));
    await layers.expectProofs(late, first);
    assert.match(late.stderr, /"msg":"the snapshot is complete and verified"/);
    await project.expectPrometheus("publisher", "replica1", "replica2");

    await run(podman, "kill", project.container("n1"));
    const second = await layers.grow(4);
    for (const name of ["replica1", "replica2"])
      await layers.expectProofs(await Container.find(podman, project.container(name)), second);
    await layers.expectProofs(edge, second);
    for (const name of ["publisher", "replica1", "replica2"])
      assert.equal(await (await Container.find(podman, project.container(name))).stop(), 0, name);
  } finally {
    await layers.stop();
    await project.remove();
  }
});
