/**
 * Published clients of the Linea network, unchanged, old blocks read by viem and ethers, and proofd-client within both,
 * against a `proofd serve --namespace linea` of this build; CCIP-read of viem and ethers; and clients of Ethereum with
 * `--gateway` (oneUrl.js).
 *
 * Run (docs/json-rpc.md): npm run build && npm ci --prefix test/clients && npm start --prefix test/clients
 */
import {mkdtemp, readFile, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {checkCcip} from "./ccip.js";
import {checkGateways} from "./gateways.js";
import {checkOneUrl} from "./oneUrl.js";
import {checkProofClient} from "./proofClient.js";
import {checkReads} from "./reads.js";
import {runProofd, startServer} from "./server.js";
import {checkViem} from "./viem.js";

const demo = new URL("../../demo/", import.meta.url);
const addresses = JSON.parse(await readFile(new URL("addresses.json", demo), "utf8"));
const folder = await mkdtemp(join(tmpdir(), "proofd-clients-"));
try {
  const db = join(folder, "store");
  const genesis = fileURLToPath(new URL("genesis.json", demo));
  const blocks = fileURLToPath(new URL("chain.rlp", demo));
  const chain = ["--genesis", genesis, "--blocks", blocks, "--finalized", "last"];
  await runProofd(["import", "--db", db, "--suite", "poseidon2", ...chain]);
  const server = await startServer(["--db", db, "--namespace", "linea"]);
  try {
    console.log(`proofd serve --namespace linea, suite poseidon2, blocks 0 to ${addresses.lastBlock}`);
    await checkViem(server.url, addresses);
    await checkGateways(server.url, addresses);
    await checkProofClient(server.url, addresses);
    await checkReads(server.url, addresses);
  } finally {
    await server.close();
  }
  await checkCcip();
  await checkOneUrl(folder);
} finally {
  await rm(folder, {recursive: true});
}
