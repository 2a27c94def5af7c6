/**
 * `npm run test:runtimes`: runs all tests on each version of Node that package.json of this folder names: the newest of
 * each line, and the oldest that the package.json of proofd allows. npm installs them into the user's cache folder, and compares them with the hashes of package-lock.json. Where the registry cannot be reached, or has no Node
 * for this machine, it says NOT RUN and why, and exits with 2; with 1 if a test failed or a download is not what the lock says.
 *
 * The newest uWebSockets.js needs glibc 2.38, so the tests run on Node 24 once more in Debian 13. debootstrap makes it in the cache
 * folder, and they run in it by chroot, as root.
 *
 * Run: node dist/test/runtimes/run.js [--quick] [20.19] [22.3] [22] [24] [26] [debian]
 *
 *   --quick   only the files that a version of Node, or a library of the system, may break most easily
 *   22 ...    only there
 */
import {spawnSync} from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";
import {DEBIAN_ROOT, installDebian} from "../support/processes/debianRoot.ts";
import {
  findProgram,
  PROGRAMS_FOLDER,
  ProgramMissing,
  readVersion,
} from "../support/processes/foundProgram.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const SOURCE = fileURLToPath(new URL("./", import.meta.resolve("#package/test/runtimes/package.json")));
const RUN = fileURLToPath(new URL("../run.js", import.meta.url));
const INTEGRATION = fileURLToPath(new URL("../integration/", import.meta.url));
const INSTALLED = join(PROGRAMS_FOLDER, "runtimes");
const PACKAGE = "package.json";
const LOCK = "package-lock.json";
const NPM_CI = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
/** Milliseconds before npm tries again. Its own default adds up to more than a minute where there is no registry. */
const RETRY = {npm_config_fetch_retry_mintimeout: "1000", npm_config_fetch_retry_maxtimeout: "3000"};

/** One or more of each thing that a version of Node may break: native code, threads, WebAssembly, HTTP, processes, fetch. */
const FILES = [
  "server/http",
  "server/jsonrpcProofs",
  "cli/finality",
  "workers/workerDeath",
  "workers/estimate",
  "storage/finality",
  "client/proofClient",
  "client/pulls",
].map(pathOf);

/** In Debian: what tells both HTTP libraries apart, and readers that come and go. */
const HTTP_FILES = ["server/http", "server/httpEnd", "server/httpReaders", "server/hostileClients"].map(
  pathOf,
);
const DEBIAN_NODE = "24";
/**
 * Arguments: the folder of Debian; programs that it gets as node and npm; how many paths follow that it shows; these; a command. The
 * links and temporary files lie in mounts of their own: the tests of containers make their images of the same folder.
 */
const CHANGE_ROOT = `cd "$1"; for own in usr/local/bin tmp; do mount -t tmpfs tmpfs $own; done
ln -s "$2" usr/local/bin/node; ln -s "$3" usr/local/bin/npm; shown=$4; shift 4
while [ $shown -gt 0 ]; do mkdir -p ".$1"; mount --rbind "$1" ".$1"; shift; shown=$((shown - 1)); done
exec chroot . "$@"`;

interface Runtime {
  /** Its argument here. */
  readonly place: string;
  /** Path of the program. */
  readonly node: string;
  readonly version: string;
}

/** What npm ends with where the registry, or its package, is out of reach. */
const UNREACHABLE =
  /^npm (?:error|ERR!) code (?:E40[34]|E5\d\d|ENOTFOUND|EAI_AGAIN|ECONN\w+|E\w+UNREACH|\w*TIMED?OUT)$/m;

const DEBIAN = "debian";
const {quick = false, places} = readArguments();
const isChosen = (place: string): boolean => places.length === 0 || places.includes(place);

try {
  const runtimes = install();
  for (const runtime of runtimes.filter(({place}) => isChosen(place))) report(runtime, passes(runtime));
  if (isChosen(DEBIAN)) {
    installDebian();
    for (const runtime of runtimes.filter(({place}) => place === DEBIAN_NODE))
      report(runtime, passesInDebian(runtime));
  }
} catch (error) {
  if (!(error instanceof ProgramMissing)) throw error;
  console.error(`NOT RUN: ${error.message}`);
  process.exitCode ??= error.isNamed ? 1 : 2;
}

/** @throws TypeError for an unknown option, RangeError for an unknown place */
function readArguments(): {quick?: boolean; places: readonly string[]} {
  const options = {quick: {type: "boolean"}} as const;
  const {values, positionals} = parseArgs({options, allowPositionals: true});
  const known = [...Object.keys(readDependencies()).map(placeOf), DEBIAN];
  const wrong = positionals.find(place => !known.includes(place));
  if (wrong !== undefined) throw new RangeError(`expected some of ${known.join(", ")}, got ${wrong}`);
  return {...values, places: positionals};
}

/** What npm installs for each name. */
function readDependencies(): Readonly<Record<string, string>> {
  return JSON.parse(readText(SOURCE, PACKAGE)).dependencies;
}

function placeOf(name: string): string {
  return name.replace("node-", "");
}

function report({version}: Runtime, passed: boolean): void {
  if (passed) return;
  console.error(`FAILED on Node ${version}`);
  process.exitCode = 1;
}

/** @returns the programs and their versions. @throws ProgramMissing */
function install(): Runtime[] {
  const {platform, arch} = process;
  if (platform !== "linux" || arch !== "x64")
    throw new ProgramMissing(`npm has Node for Linux on x64, got ${platform} on ${arch}`);
  if (!existsSync(join(INSTALLED, LOCK)) || readText(INSTALLED, LOCK) !== readText(SOURCE, LOCK)) download();
  return Object.entries(readDependencies()).map(([name, wanted]) => {
    const node = join(INSTALLED, "node_modules", name, "bin/node");
    const version = readVersion("Node", node, "--version", /^v(.*)$/m);
    if (!wanted.endsWith(`@${version}`)) throw new Error(`expected ${wanted}, but ${node} is ${version}`);
    return {place: placeOf(name), node, version};
  });
}

/** Into a folder of its own, so that what is interrupted is not taken for installed. @throws ProgramMissing */
function download(): void {
  mkdirSync(PROGRAMS_FOLDER, {recursive: true});
  const folder = mkdtempSync(`${INSTALLED}-`);
  try {
    for (const name of [PACKAGE, LOCK]) copyFileSync(join(SOURCE, name), join(folder, name));
    console.log(`npm ci: test/runtimes -> ${INSTALLED}`);
    const {stderr, status, error} = spawnSync("npm", NPM_CI, {
      cwd: folder,
      encoding: "utf8",
      env: {...RETRY, ...process.env},
    });
    if (status !== 0) {
      const isUnreachable = UNREACHABLE.test(stderr ?? "");
      throw new ProgramMissing(
        `npm did not install test/runtimes: ${error?.message ?? stderr}`,
        !isUnreachable,
      );
    }
    rmSync(INSTALLED, {recursive: true, force: true});
    renameSync(folder, INSTALLED);
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

function readText(folder: string, name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

function pathOf(name: string): string {
  return join(INTEGRATION, `${name}.test.js`);
}

function passes({node, version}: Runtime): boolean {
  console.log(`\nNode ${version}: ${node}`);
  return spawnSync(node, [RUN, ...(quick ? FILES : [])], {stdio: "inherit"}).status === 0;
}

function passesInDebian({node, version}: Runtime): boolean {
  console.log(`\nNode ${version} with uWebSockets.js, in Debian 13: ${node}`);
  const found = findProgram("npm");
  if (found === undefined) throw new ProgramMissing("tests of packages need npm");
  const npm = realpathSync(found);
  const shown = ["/proc", "/dev", ROOT, PROGRAMS_FOLDER, dirname(dirname(npm))];
  const command = [DEBIAN_ROOT, node, npm, String(shown.length), ...shown, node, RUN];
  if (quick) command.push(...HTTP_FILES);
  // The mounts end with the namespace.
  const {status} = spawnSync("unshare", ["--mount", "sh", "-ec", CHANGE_ROOT, "sh", ...command], {
    stdio: "inherit",
    env: {...process.env, TEST_HTTP: "uws"},
  });
  return status === 0;
}
