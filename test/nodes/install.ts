/**
 * Installs the nodes that the tests of this folder were made with, into the user's cache folder. It needs Go, its module proxy, and
 * some minutes. geth is installed by `go install`. op-geth replaces geth's module, which `go install` does not do, so opGeth/ is a
 * module that does: its go.sum has the hashes of all sources. No other client installs that way: erigon's releases are tagged v3, which
 * its module path does not say, and reth's package on crates.io has no program. viem, which proves withdrawals, is a dependency of an
 * example alone.
 *
 * Run: node dist/test/nodes/install.js
 */
import {spawnSync} from "node:child_process";
import {mkdirSync, realpathSync, writeFileSync} from "node:fs";
import {dirname} from "node:path";
import {fileURLToPath} from "node:url";
import {GETH_FOLDER, GETH_VERSION} from "../../bench/peers/gethChain.ts";
import {findProgram} from "../support/processes/foundProgram.ts";
import {OP_GENESIS, OP_GETH, OP_GETH_VERSION} from "../support/processes/opGethFiles.ts";

const MODULE = "github.com/ethereum/go-ethereum/cmd/geth";
const OP_GETH_MODULE = fileURLToPath(import.meta.resolve("#package/test/nodes/opGeth/go.mod"));
/** Refuses sources that go.sum does not have. */
const PINNED = ["-mod=readonly", "-trimpath"];
const MAX_GENESIS_BYTES = 64 << 20;

function install(): number {
  const go = findProgram("go");
  if (go === undefined) {
    console.error(
      "expected Go in PATH (https://go.dev/dl), or a geth of your own in --geth FILE of npm run test:nodes",
    );
    return 2;
  }
  return installViem() || installGeth(go) || installOpGeth(go);
}

function installViem(): number {
  const folder = fileURLToPath(import.meta.resolve("#package/examples/withdrawal"));
  console.log(`viem -> ${folder}`);
  const {status} = spawnSync("npm", ["ci", "--silent", "--prefix", folder], {stdio: "inherit"});
  return status ?? 1;
}

function installGeth(go: string): number {
  mkdirSync(GETH_FOLDER, {recursive: true});
  console.log(`${MODULE}@${GETH_VERSION} -> ${GETH_FOLDER}`);
  const {status} = spawnSync(go, ["install", `${MODULE}@${GETH_VERSION}`], {
    env: {...process.env, GOBIN: GETH_FOLDER},
    stdio: "inherit",
  });
  return status ?? 1;
}

function installOpGeth(go: string): number {
  const cwd = dirname(OP_GETH_MODULE);
  mkdirSync(dirname(OP_GETH), {recursive: true});
  console.log(`op-geth ${OP_GETH_VERSION} -> ${dirname(OP_GETH)}`);
  const {status} = spawnSync(go, ["build", ...PINNED, "-o", OP_GETH, MODULE], {cwd, stdio: "inherit"});
  if (status !== 0) return status ?? 1;
  const genesis = spawnSync(go, ["run", ...PINNED, "."], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: MAX_GENESIS_BYTES,
  });
  if (genesis.status === 0) writeFileSync(OP_GENESIS, genesis.stdout);
  return genesis.status ?? 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = install();
