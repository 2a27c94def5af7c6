/**
 * `npm run test:containers`: makes the images that deploy/ names, and runs the tests of this folder with them, in podman. No registry of
 * images is asked: baseImages.ts makes what Dockerfile and compose files begin with from Debian's packages and npm's.
 *
 * Without podman, or not as root, it says NOT RUN and why, and exits with 2; with 1 if something failed.
 *
 * Run: node dist/test/containers/run.js [OPTION OF test/run.ts...] [FILE...]
 */
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {existsSync, mkdtempSync, readdirSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {findProgram, ProgramMissing} from "../support/processes/foundProgram.ts";
import {importBaseImages} from "./baseImages.ts";
import {CONTAINERS_VARIABLE, IMAGE, Podman} from "./podman.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const FOLDER = fileURLToPath(new URL("./", import.meta.url));
const RUN = fileURLToPath(new URL("../run.js", import.meta.url));
const NEEDED = ["podman", "runc", "debootstrap", "tar", "npm"];
const NETWORKS = ["/usr/lib/podman/netavark", "/usr/libexec/podman/netavark"];
const INSTALL =
  "apt-get install podman runc debootstrap netavark aardvark-dns iptables podman-compose (and Go, for manifests)";
/** Where Debian has the certificates of authorities. */
const AUTHORITIES = "/etc/ssl/certs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let isStopped = false;
const args = process.argv.slice(2);
const start = performance.now();
try {
  requirePrograms();
  process.exitCode = await runAll();
} catch (error) {
  if (!(error instanceof ProgramMissing)) throw error;
  console.error(`NOT RUN: ${error.message}`);
  process.exitCode = 2;
}

/** @throws ProgramMissing */
function requirePrograms(): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    throw new ProgramMissing("expected Linux, and to be root: images are made with debootstrap");
  const missing = NEEDED.filter(name => findProgram(name) === undefined);
  if (missing.length > 0) throw new ProgramMissing(`expected ${missing.join(", ")} in PATH: ${INSTALL}`);
  if (!NETWORKS.some(path => existsSync(path)))
    throw new ProgramMissing(
      `expected ${NETWORKS.join(" or ")}, which makes networks for podman: ${INSTALL}`,
    );
}

async function runAll(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-containers-"));
  const podman = new Podman(folder);
  try {
    podman.writeSettings();
    importBaseImages(podman, say);
    buildImage(podman);
    const options = args.filter(arg => arg.startsWith("-"));
    const named = args.filter(arg => !arg.startsWith("-"));
    const all = readdirSync(FOLDER).filter(name => name.endsWith(".test.js"));
    // One after the other: networks that are made at the same time disturb each other.
    let passed = true;
    for (const file of named.length > 0 ? named : all.map(name => join(FOLDER, name))) {
      passed = (await runFile([...options, file], folder)) && passed;
      say(`${file} has ended`);
      if (isStopped) break;
    }
    return passed ? 0 : 1;
  } finally {
    podman.runSync("rm", "--all", "--force", "--time", "0");
    podman.runSync("rmi", "--all", "--force");
    rmSync(folder, {recursive: true, force: true});
    say("removed what was made");
  }
}

/** A signal ends the file, not this process, which still removes the containers. */
async function runFile(args: readonly string[], folder: string): Promise<boolean> {
  const env = {...process.env, [CONTAINERS_VARIABLE]: folder};
  const child = spawn(process.execPath, [RUN, ...args], {env, stdio: "inherit"});
  const stop = (signal: NodeJS.Signals): void => {
    isStopped = true;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  const [code] = await once(child, "exit");
  for (const signal of SIGNALS) process.off(signal, stop);
  return code === 0;
}

/** As its head says, with this machine's authorities, and npm's settings and cache. */
function buildImage(podman: Podman): void {
  const places: readonly (readonly [path: string, inside: string])[] = [
    [AUTHORITIES, `${AUTHORITIES}:ro`],
    [readNpm("globalconfig"), "/root/.npmrc:ro"],
    [readNpm("cache"), "/root/.npm"],
  ];
  const volumes = places.flatMap(([path, inside]) =>
    existsSync(path) ? ["--volume", `${path}:${inside}`] : [],
  );
  const settings = ["--isolation=chroot", "--network=host", "--pull=never", ...volumes];
  podman.runSync(
    "build",
    "--format",
    "docker",
    ...settings,
    "-f",
    join(ROOT, "deploy/Dockerfile"),
    "-t",
    IMAGE,
    ROOT,
  );
  say(
    `${IMAGE} is built: ${podman.runSync("image", "inspect", "--format", "{{.Size}}", IMAGE).trim()} bytes`,
  );
}

function readNpm(setting: string): string {
  return spawnSync("npm", ["config", "get", setting], {encoding: "utf8"}).stdout.trim();
}

function say(what: string): void {
  console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${what}`);
}
