/** podman with storage, networks and settings of its own in one folder. */
import {spawnSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";

/** Names the folder for the tests. */
export const CONTAINERS_VARIABLE = "PROOFD_CONTAINERS";
export const IMAGE = "proofd:0.1.0";

/** What all files of deploy/ ask for. */
export const HARDENED = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];

export class Podman {
  /** Where podman finds its settings. */
  readonly variables: Readonly<Record<string, string>>;

  constructor(private readonly folder: string) {
    this.variables = {
      CONTAINERS_CONF: join(folder, "containers.conf"),
      CONTAINERS_STORAGE_CONF: join(folder, "storage.conf"),
      CONTAINERS_REGISTRIES_CONF: join(folder, "registries.conf"),
    };
  }

  /** The one that `npm run test:containers` has made. */
  static ofRun(): Podman {
    const folder = process.env[CONTAINERS_VARIABLE];
    if (folder === undefined) throw new Error("these tests are run by npm run test:containers");
    return new Podman(folder);
  }

  /** The limits are those of machines whose root may not raise any, and no cgroup is made. */
  writeSettings(): void {
    const {folder} = this;
    // vfs copies each layer whole.
    const driver = /\toverlay$/m.test(readFileSync("/proc/filesystems", "utf8")) ? "overlay" : "vfs";
    for (const name of ["storage", "state", "networks"]) mkdirSync(join(folder, name));
    writeFileSync(
      join(folder, "containers.conf"),
      `[containers]\ncgroups = "no-conmon"\ndefault_ulimits = ["nofile=16384:16384", "nproc=4096:4096"]
[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"
[network]\nnetwork_config_dir = "${folder}/networks"\n`,
    );
    writeFileSync(
      join(folder, "storage.conf"),
      `[storage]\ndriver = "${driver}"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/state"\n`,
    );
    writeFileSync(
      join(folder, "registries.conf"),
      'unqualified-search-registries = ["docker.io"]\nshort-name-mode = "permissive"\n',
    );
  }

  /** @param input - for its standard input. @returns its output. @throws Error with what it said if it failed */
  runSync(...args: readonly string[]): string {
    return this.runWith("", ...args);
  }

  runWith(input: string, ...args: readonly string[]): string {
    const {status, stdout, stderr} = spawnSync("podman", args, {
      encoding: "utf8",
      env: this.environment,
      input,
      maxBuffer: 1 << 28,
    });
    if (status !== 0)
      throw new Error(`podman ${args.join(" ")}: ${status}\n${stdout.slice(-4000)}${stderr.slice(-8000)}`);
    return stdout;
  }

  get environment(): NodeJS.ProcessEnv {
    return {...process.env, ...this.variables};
  }
}
