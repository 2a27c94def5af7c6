/** examples/relayer between two real nodes: the proof of a token balance, taken to layer 1, pays as much in wei. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {toHex} from "../../../storage/hex.ts";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {sendTransaction} from "../../support/contracts/transactions.ts";
import {Cast} from "../../support/demo/cast.ts";
import {makeAddress} from "../../support/demo/demoAccount.ts";
import {waitForHash} from "../../support/http/nodeFollower.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {Layer1} from "../../support/layer1/rollupContract.ts";
import {type JsonRpcCall, JsonRpcServer} from "../../support/nodes/jsonRpcServer.ts";
import {type Finished, runChild} from "../../support/processes/childProcesses.ts";
import {notRun} from "../../support/processes/notRun.ts";

const EXAMPLE = fileURLToPath(import.meta.resolve("#package/examples/relayer/relay.js"));
/** How often somebody has looked what is finalized. */
const LOOKS = 'proofd_calls_total{method="chain_getCoverage",code="0"}';
const NOBODY = `0x${"00".repeat(20)}`;
/** Each holds a few units of the token after some rounds of the live chain. */
const [FIRST, SECOND] = [0, 1].map(i => toHex(makeAddress(`live holder ${i}`))) as [string, string];
const STRANGER = `0x${"c2".repeat(20)}`;
/** Slot of DemoToken's balanceOf. */
const BALANCES = 0n;

const folder = new WorkFolder();
let layer2: LiveChain | string;
let layer1: Layer1 | string = "layer 2 comes first";
let daemon: OwnService | undefined;

before(async () => {
  layer2 = await LiveChain.create(folder.path);
  if (typeof layer2 === "string") return;
  layer1 = await Layer1.start();
  if (typeof layer1 === "string") return;
  await layer1.settle();
  daemon = await OwnService.serve([
    ...["--db", folder.file("relayed.db"), "--l2", layer2.anvil.url, "--genesis", layer2.genesisPath],
    ...["--l1", layer1.anvil.url, "--rollup", layer1.address],
  ]);
});

after(async () => {
  await daemon?.stop();
  if (layer1 instanceof Layer1) await layer1.stop();
  if (layer2 instanceof LiveChain) await layer2.stop();
});

/** A claim on layer 1 for the token balances of layer 2 at a block. It has money. @returns its address */
async function createClaim(below: Layer1, block: number): Promise<string> {
  const verifier = await DeployedContract.create(below.anvil, "Sha256ProofVerifier");
  const oracle = await DeployedContract.create(below.anvil, "StateRootOracle", NOBODY, below.address);
  const {address} = await DeployedContract.create(
    below.anvil,
    "Claim",
    ...[verifier.address, oracle.address, BigInt(block), toHex(new Cast().token), BALANCES],
  );
  await sendTransaction(below.anvil, {to: address, value: "0xffff"});
  return address;
}

/** The root of a block, which is not finalized yet: a rollup's operator executes the chain too. */
async function readRoot(service: OwnService, above: LiveChain, block: number): Promise<Uint8Array> {
  const {hash} = await above.block(block);
  await waitForHash(service, block, hash);
  const {result} = await service.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
  return Buffer.from(result.stateRoot.slice(2), "hex");
}

test("the example is paid for a proof once layer 1 has finalized its block, and a forged proof is refused", async t => {
  if (typeof layer2 === "string") return notRun(t, layer2);
  if (typeof layer1 === "string") return notRun(t, layer1);
  const [below, above, service] = [layer1, layer2, daemon as OwnService];
  const block = await above.grow(4);
  const claim = await createClaim(below, block);
  const relay = (proofd: string, claimant: string, ...more: readonly string[]): Promise<Finished> => {
    const flags = ["--proofd", proofd, "--l1", below.anvil.url, "--claim", claim, "--claimant", claimant];
    return runChild(process.execPath, [EXAMPLE, ...flags, ...more]);
  };
  const balance = async (address: string): Promise<bigint> =>
    BigInt(await below.anvil.request<string>("eth_getBalance", address, "latest"));

  const root = await readRoot(service, above, block);
  const waiting = relay(service.url, FIRST);
  const tooEarly = waiting.then(({stderr}) => assert.fail(`it did not wait: ${stderr}`));
  const waits = service.until("a look at finality", async () => (await service.readMetric(LOOKS)) > 0);
  await Promise.race([waits, tooEarly]);
  tooEarly.catch(() => {});
  await below.finalize(1, block, await readRoot(service, above, 0), root);
  await below.settle();
  const paid = await waiting;
  assert.equal(paid.code, 0, paid.stderr);
  const [, amount] =
    /^paid (\d+) wei to 0x.* bytes of proof, \d+ gas\ntransaction 0x/.exec(paid.stdout) ?? [];
  assert.ok(BigInt(amount ?? 0) > 0n, paid.stdout);
  assert.equal(await balance(FIRST), BigInt(amount as string));

  const forged = await relay(service.url, SECOND, "--forge");
  assert.deepEqual(
    [forged.code, forged.stderr],
    [1, "Error: the contract refuses the claim: RootMismatch\n"],
  );
  const again = await relay(service.url, FIRST);
  assert.deepEqual([again.code, again.stderr], [1, "Error: the contract refuses the claim: AlreadyPaid\n"]);
  const stranger = await relay(service.url, STRANGER);
  assert.equal(stranger.code, 1);
  assert.match(stranger.stderr, /^Error: nothing is owed to 0xc2/);

  const liar = new JsonRpcServer(async ({id, method, params}: JsonRpcCall) => {
    const answer = await service.call(method, params);
    if (method !== "chain_getProofAt") return {...answer, id};
    const [{proof}] = answer.result.proof.storageProofs;
    proof.value = `0x${"00".repeat(30)}ffff`;
    return {...answer, id};
  });
  await liar.start();
  try {
    const deceived = await relay(liar.url, SECOND);
    assert.equal(deceived.code, 1);
    assert.match(deceived.stderr, /^ProofError: storageProofs\[0\]\.proof/);
  } finally {
    await liar.stop();
  }
  assert.equal(await balance(SECOND), 0n);
});
