/** The manifests: decoded strictly by Kubernetes' own types; their containers run as they say, and their probes are asked. */
import assert from "node:assert/strict";
import {chown, copyFile, mkdir, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {findProgram} from "../support/processes/foundProgram.ts";
import {notRun} from "../support/processes/notRun.ts";
import {Container, run, tryToRun} from "./container.ts";
import {HARDENED, Podman} from "./podman.ts";
import {TwoLayers} from "./twoLayers.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const NETWORK = "cluster";
const podman = Podman.ofRun();

interface Probe {
  readonly httpGet: {readonly path: string; readonly port: string};
}

interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom: {readonly fieldRef: {readonly fieldPath: string}};
  }[];
  readonly ports: readonly {readonly name: string; readonly containerPort: number}[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean;
    readonly readOnlyRootFilesystem: boolean;
    readonly capabilities: {readonly drop: readonly string[]};
  };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

interface Volume {
  readonly name: string;
  readonly configMap?: {readonly name: string};
  readonly secret?: {readonly secretName: string};
}

interface PodSpec {
  readonly securityContext: {
    readonly runAsUser: number;
    readonly runAsGroup: number;
    readonly fsGroup: number;
  };
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly ContainerSpec[];
  readonly volumes?: readonly Volume[];
}

/** Of a manifest, as much as is used here. */
interface Manifest {
  readonly kind: string;
  readonly metadata: {readonly name: string};
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly selector?: Readonly<Record<string, string>> & {readonly matchLabels?: object};
    readonly ports?: readonly {
      readonly name: string;
      readonly port: number;
      readonly targetPort?: string | number;
    }[];
    readonly template?: {
      readonly metadata: {readonly labels: Readonly<Record<string, string>>};
      readonly spec: PodSpec;
    };
  };
}

const folder = new WorkFolder();
let layers: TwoLayers | string;
before(async () => {
  layers = await TwoLayers.start(folder.path);
  await run(podman, "network", "create", NETWORK);
});
after(async () => {
  if (typeof layers !== "string") await layers.stop();
});

async function decode(file: string): Promise<Manifest[]> {
  const program = join(ROOT, "test/containers/manifests");
  const {code, stdout, stderr} = await runChild("go", ["run", ".", join(ROOT, "deploy", file)], {
    cwd: program,
  });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Each Service selects the pods of one StatefulSet, which have its ports. */
function checkServices(manifests: readonly Manifest[]): void {
  for (const {kind, metadata, spec} of manifests) {
    if (kind !== "Service") continue;
    const pods = manifests.filter(({spec: {template} = {}}) =>
      Object.entries(spec?.selector ?? {}).every(
        ([label, value]) => template?.metadata.labels[label] === value,
      ),
    );
    assert.equal(pods.length, 1, metadata.name);
    const ports = pods[0]?.spec?.template?.spec.containers.flatMap(({ports}) => ports) ?? [];
    for (const {name, port, targetPort} of spec?.ports ?? []) {
      const aim = targetPort || port;
      const isThere = ports.some(one => one.name === aim || one.containerPort === aim);
      assert.ok(isThere, `${metadata.name}: ${name}`);
    }
  }
}

/** Runs the containers of a file's pods, with what an operator writes into it. */
class Cluster {
  readonly pods: {readonly name: string; readonly spec: ContainerSpec}[] = [];

  constructor(
    private readonly manifests: readonly Manifest[],
    private readonly name: string,
    /** What stands in the file, and what the operator writes there. */
    private readonly changes: readonly (readonly [from: string, to: string])[],
    private readonly genesisPath: string,
  ) {}

  /** Starts all pods of a StatefulSet. */
  async start(set: string): Promise<void> {
    const {spec} = this.manifests.find(
      ({kind, metadata}) => kind === "StatefulSet" && metadata.name === set,
    ) as Manifest;
    const {template, replicas = 1, serviceName} = spec ?? {};
    const pod = template?.spec as PodSpec;
    assert.deepEqual(
      Object.entries(template?.metadata.labels ?? {}),
      Object.entries(spec?.selector?.matchLabels ?? {}),
    );
    const [container] = pod.containers as [ContainerSpec];
    for (let at = 0; at < replicas; at++) {
      const name = `${set}-${at}`;
      const place = `${this.name}-${name}`;
      const {runAsUser, runAsGroup} = pod.securityContext;
      const flags = [
        ...["--network", NETWORK, "--network-alias", `${name}.${serviceName}`, "--hostname", name],
        ...[
          "--user",
          `${runAsUser}:${runAsGroup}`,
          "--stop-timeout",
          String(pod.terminationGracePeriodSeconds),
        ],
        ...readSecurity(container),
        ...(container.env ?? []).flatMap(({name: variable, valueFrom: {fieldRef}}) => {
          assert.equal(fieldRef.fieldPath, "metadata.name");
          return ["--env", `${variable}=${name}`];
        }),
        ...(await this.mount(pod, container, place)),
      ];
      const args = container.args.map(arg => arg.replaceAll("$(POD_NAME)", name));
      await run(podman, "run", "--detach", "--name", place, ...flags, container.image, ...args);
      this.pods.push({name: place, spec: container});
    }
  }

  /** Waits until the probe is answered with 200. */
  async expect(probe: "startupProbe" | "livenessProbe" | "readinessProbe"): Promise<void> {
    for (const {name, spec} of this.pods) {
      const {path, port} = spec[probe]?.httpGet ?? {};
      if (path === undefined) continue;
      const {containerPort} =
        spec.ports.find(one => one.name === port) ?? assert.fail(`${name}: no port ${port}`);
      const asked = await Container.find(podman, name, containerPort);
      await asked.until(`${probe} of ${name}`, async () => {
        const answer = await fetch(`${asked.url}${path}`).catch(() => undefined); // it starts
        await answer?.arrayBuffer();
        return answer?.status === 200;
      });
    }
  }

  async stop(): Promise<void> {
    for (const {name} of this.pods.splice(0)) {
      const {code, stdout} = await tryToRun(podman, "stop", name);
      assert.equal(code, 0, stdout);
      const exit = await run(podman, "inspect", "--format", "{{.State.ExitCode}}", name);
      if (!name.includes("nats") && exit !== "0") {
        const {stdout: output, stderr: lines} = await tryToRun(podman, "logs", "--timestamps", name);
        assert.fail(`${name} ended with ${exit}:\n${output}${lines}`);
      }
      await run(podman, "rm", "--force", name);
    }
  }

  /** The file that stands for a value in a ConfigMap or Secret, and a folder of the pod's own for its data. */
  private async mount(pod: PodSpec, container: ContainerSpec, place: string): Promise<string[]> {
    const flags: string[] = [];
    for (const {name, mountPath, readOnly = false} of container.volumeMounts) {
      const path = folder.file(`${place}-${name}`);
      await mkdir(path);
      const volume = pod.volumes?.find(one => one.name === name);
      if (volume === undefined) await chown(path, pod.securityContext.runAsUser, pod.securityContext.fsGroup);
      else if (volume.configMap?.name === "proofd-genesis")
        await copyFile(this.genesisPath, join(path, "genesis.json"));
      else await this.writeFiles(path, volume);
      flags.push("--volume", `${path}:${mountPath}${readOnly ? ":ro" : ""}`);
    }
    return flags;
  }

  private async writeFiles(path: string, {configMap, secret}: Volume): Promise<void> {
    const [kind, named] =
      secret === undefined ? ["ConfigMap", configMap?.name] : ["Secret", secret.secretName];
    const found = this.manifests.find(one => one.kind === kind && one.metadata.name === named);
    assert.ok(found, `${kind} ${named}`);
    for (const [name, text] of Object.entries({...found.data, ...found.stringData}))
      await writeFile(
        join(path, name),
        this.changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
      );
  }
}

function readSecurity({securityContext}: ContainerSpec): string[] {
  const {allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities} = securityContext;
  assert.deepEqual(
    [allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities.drop],
    [false, true, ["ALL"]],
  );
  return HARDENED as string[];
}

function manifestTest(
  title: string,
  file: string,
  work: (cluster: Cluster, layers: TwoLayers) => Promise<void>,
): void {
  test(title, async t => {
    if (findProgram("go") === undefined) return notRun(t, "no go in PATH");
    const manifests = await decode(file);
    checkServices(manifests);
    if (typeof layers === "string") return notRun(t, layers);
    const {l2, l1, rollup, chainId} = layers.settings;
    const changes = [
      ["http://layer2-node:8545", l2],
      ["http://layer1-node:8545", l1],
      [`0x${"0".repeat(40)}`, rollup],
      ["chain-id = 59144", `chain-id = ${chainId}`],
    ] as const;
    const cluster = new Cluster(manifests, file.replace(".yml", ""), changes, layers.layer2.genesisPath);
    t.after(() => cluster.stop());
    await work(cluster, layers);
  });
}

manifestTest(
  "kubernetes.yml is what Kubernetes' types say; its pod becomes ready, proves, and ends in time",
  "kubernetes.yml",
  async (cluster, layers) => {
    await cluster.start("proofd");
    const block = await layers.grow(4);
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
      await cluster.expect(probe);
    await layers.expectProofs(await Container.find(podman, "kubernetes-proofd-0"), block);
  },
);

manifestTest(
  "kubernetes-replicas.yml is what Kubernetes' types say; its brokers, publisher and replicas become ready, and the replicas prove",
  "kubernetes-replicas.yml",
  async (cluster, layers) => {
    await cluster.start("nats");
    await cluster.expect("startupProbe");
    for (const set of ["proofd-publisher", "proofd-replica"]) await cluster.start(set);
    const block = await layers.grow(4);
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
      await cluster.expect(probe);
    for (const at of [0, 1])
      await layers.expectProofs(
        await Container.find(podman, `kubernetes-replicas-proofd-replica-${at}`),
        block,
      );
  },
);
