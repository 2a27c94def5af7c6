/**
 * Installs the geth that the tests of this folder were made with, into the user's cache folder, by `go install`. It needs Go, its
 * module proxy, and some minutes. No other client installs that way: erigon's releases are tagged v3, which its module path does not
 * say, and reth's package on crates.io has no program.
 *
 * Run: node dist/test/nodes/install.js
 */
import {spawnSync} from "node:child_process";
import {mkdirSync, realpathSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {GETH_FOLDER, GETH_VERSION} from "../../bench/peers/gethChain.ts";
import {findProgram} from "../support/processes/foundProgram.ts";

const MODULE = "github.com/ethereum/go-ethereum/cmd/geth";

function install(): number {
  const go = findProgram("go");
  if (go === undefined) {
    console.error(
      "expected Go in PATH (https://go.dev/dl), or a geth of your own in --geth FILE of npm run test:nodes",
    );
    return 2;
  }
  mkdirSync(GETH_FOLDER, {recursive: true});
  console.log(`${MODULE}@${GETH_VERSION} -> ${GETH_FOLDER}`);
  const {status} = spawnSync(go, ["install", `${MODULE}@${GETH_VERSION}`], {
    env: {...process.env, GOBIN: GETH_FOLDER},
    stdio: "inherit",
  });
  return status ?? 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = install();
