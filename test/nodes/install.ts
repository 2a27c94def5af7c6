/**
 * Installs the geth that the tests of this folder were made with, into the user's cache folder, by `go install`. It needs Go, its
 * module proxy, and some minutes. No other client installs that way: erigon's releases are tagged v3, which its module path does not
 * say, and reth's package on crates.io is a placeholder.
 *
 * Run: node dist/test/nodes/install.js
 */
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync, realpathSync} from "node:fs";
import {homedir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {findProgram} from "../support/processes/foundProgram.ts";

const MODULE = "github.com/ethereum/go-ethereum/cmd/geth";
const VERSION = "v1.17.10";
const FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "proofd", `geth-${VERSION}`);

/** @returns the path of the geth that this program installed, if it has */
export function installedGeth(): string | undefined {
  const path = join(FOLDER, "geth");
  return existsSync(path) ? path : undefined;
}

function install(): number {
  const go = findProgram("go");
  if (go === undefined) {
    console.error(
      "expected Go in PATH (https://go.dev/dl), or a geth of your own in --geth FILE of npm run test:nodes",
    );
    return 2;
  }
  mkdirSync(FOLDER, {recursive: true});
  console.log(`${MODULE}@${VERSION} -> ${FOLDER}`);
  const {status} = spawnSync(go, ["install", `${MODULE}@${VERSION}`], {
    env: {...process.env, GOBIN: FOLDER},
    stdio: "inherit",
  });
  return status ?? 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = install();
