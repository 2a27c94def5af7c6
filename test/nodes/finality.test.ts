/** What a real geth calls final, on both layers. The tests run in this order; the last ones end their nodes. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {encodeCall} from "../../demo/abi.ts";
import type {ContractArtefact} from "../../demo/artefact.ts";
import {type BlockPlan, EngineChain} from "../support/chains/engineChain.ts";
import type {Sent} from "../support/chains/people.ts";
import type {AskedService} from "../support/http/askedService.ts";
import {waitForMetric} from "../support/http/followingDaemon.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {OwnService} from "../support/http/ownService.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {readFixture} from "../support/reference/fixtures.ts";

const DEPLOYMENT_GAS = 2_000_000n;

interface Receipt {
  readonly status: string;
  readonly contractAddress: string;
}

class GethRollup {
  private constructor(
    readonly address: string,
    private readonly contract: ContractArtefact,
  ) {}

  /** Deploys the contract in the chain's next block. @param node - of the chain */
  static async deploy(chain: EngineChain, node: RealNode): Promise<GethRollup> {
    const {contract} = readFixture<{contract: ContractArtefact}>("own/rollup");
    const data = Buffer.from(contract.bytecode, "hex");
    const block = await chain.seal({transactions: [{data, gas: DEPLOYMENT_GAS}]});
    const tag = `0x${block.toString(16)}`;
    const [receipt] = await node.request<readonly Receipt[]>("eth_getBlockReceipts", tag);
    if (receipt?.status !== "0x1") throw new Error(`the deployment failed: ${JSON.stringify(receipt)}`);
    return new GethRollup(receipt.contractAddress, contract);
  }

  /** A transaction that emits DataFinalizedV3. @param parent - root of the block before `start`, 0x and 64 digits, as `final` */
  finalize(start: number, end: number, parent: string, final: string): Sent {
    const signature = "finalize(uint256,uint256,bytes32,bytes32)";
    return {
      to: this.address,
      data: encodeCall(this.contract, signature, BigInt(start), BigInt(end), parent, final),
    };
  }
}

const FORKS = {cancun: 1, prague: 1, osaka: 1};
const BLOCKS = 8;
const STRANGER = `0x${"5a".repeat(20)}`;
const PAYMENT: BlockPlan = {transactions: [{to: STRANGER, value: 1n}]};

let chain: EngineChain;
let node: RealNode;
let layer1: EngineChain;
let below: RealNode;

before(async () => {
  [chain, layer1] = await Promise.all([EngineChain.create(FORKS), EngineChain.create(FORKS)]);
  [node, below] = await Promise.all([chain.addNode(), layer1.addNode()]);
  for (let block = 1; block <= BLOCKS; block++) await chain.seal(PAYMENT);
  await layer1.seal();
});

after(() => Promise.all([chain?.stop(), layer1?.stop()]));

/** Runs `body` beside layer 2, with these flags that tell what is final. */
function follow(
  name: string,
  source: string,
  flags: readonly string[],
  body: (daemon: OwnService) => Promise<void>,
): Promise<void> {
  const own = ["--db", chain.file(name), "--genesis", chain.genesisPath, "--source", source];
  return withFollower([...own, "--l2", node.url, ...flags], body);
}

async function readFinalized(daemon: AskedService): Promise<number | undefined> {
  const {result} = await daemon.call("chain_getCoverage");
  // There is no coverage before the first block.
  return (result?.finalized ?? null) === null ? undefined : Number(result.finalized);
}

async function waitForFinalized(daemon: AskedService, block: number): Promise<void> {
  await daemon.until(`block ${block} to be final`, async () => (await readFinalized(daemon)) === block);
}

/** Waits until the source of finality has answered a question that was asked after now. */
async function waitForAnswers(daemon: AskedService): Promise<void> {
  for (let answers = 0; answers < 2; answers++) {
    const read = () => daemon.readMetric("proofd_finality_answered_timestamp_seconds");
    const before = await read();
    await daemon.until("another answer", async () => (await read()) !== before);
  }
}

async function stateRoot(block: number): Promise<string> {
  const tag = `0x${block.toString(16)}`;
  return (await node.request<{stateRoot: string}>("eth_getBlockByNumber", tag, false)).stateRoot;
}

/** A block of layer 1 that finalizes these blocks of layer 2. */
async function planFinalization(rollup: GethRollup, start: number, end: number): Promise<BlockPlan> {
  return {transactions: [rollup.finalize(start, end, await stateRoot(start - 1), await stateRoot(end))]};
}

/** The last blocks of the finalizations recorded, and the layer-1 blocks that have them. */
async function listFinalizations(daemon: AskedService): Promise<[end: number, layer1Block: number][]> {
  const {result} = await daemon.call("chain_getFinalizations");
  return result.map(({endBlock, l1}: {endBlock: string; l1: {blockNumber: string}}) => [
    Number(endBlock),
    Number(l1.blockNumber),
  ]);
}

for (const [source, flags] of [
  ["execute", ["--l1-root", "header"]],
  ["trace", ["--l1-depth", "2"]],
] as const)
  test(`layer 1, by ${source} with ${flags.join(" ")}: an event counts in the branch that becomes final`, async () => {
    const rollup = await GethRollup.deploy(layer1, below);
    const deployed = layer1.height;
    await layer1.finalize(deployed);
    await layer1.seal(await planFinalization(rollup, 1, 3));
    await layer1.seal();
    const own = ["--l1", below.url, "--rollup", rollup.address, ...flags];
    await follow(`layer1-${source}`, source, own, async daemon => {
      await waitForMetric(daemon, `proofd_layer1_read_block ${deployed}`);
      await waitForAnswers(daemon);
      assert.equal(await readFinalized(daemon), undefined);
      // The event goes, and comes back a block later.
      await layer1.reorganise(2, [{}, await planFinalization(rollup, 1, 3), {}]);
      await layer1.finalize(deployed + 1);
      await waitForMetric(daemon, `proofd_layer1_read_block ${deployed + 1}`);
      await waitForAnswers(daemon);
      assert.equal(await readFinalized(daemon), undefined);
      await layer1.seal();
      await layer1.finalize(deployed + 2);
      await waitForFinalized(daemon, 3);
      assert.deepEqual(await listFinalizations(daemon), [[3, deployed + 2]]);
      await daemon.waitForStderr(/"root":"header"|--l1-root header/);
    });
  });

test("layer 1 unwinds below the events and is led back, then it is killed and another one goes on", async () => {
  const rollup = await GethRollup.deploy(layer1, below);
  const deployed = layer1.height;
  for (const end of [2, 4]) await layer1.seal(await planFinalization(rollup, end - 1, end));
  await layer1.finalize(layer1.height);
  const own = ["--l1", below.url, "--rollup", rollup.address];
  await follow("unwound", "execute", own, async daemon => {
    await waitForFinalized(daemon, 4);
    await below.request("debug_setHead", `0x${(deployed - 1).toString(16)}`);
    await below.stop();
    await below.restart();
    await daemon.waitForStderr(/names no finalized block: \S+ refuses \S+ finalized block not found/);
    assert.equal(await readFinalized(daemon), 4);
    await layer1.tell(below);
    await layer1.seal(await planFinalization(rollup, 5, 6));
    await layer1.finalize(layer1.height);
    await waitForFinalized(daemon, 6);
    assert.doesNotMatch(daemon.stderr, /finality has stopped/);
  });
  const other = await layer1.addNode();
  await layer1.seal(await planFinalization(rollup, 7, 8));
  await below.kill();
  await below.restart();
  assert.ok(Number(await below.request("eth_blockNumber")) < deployed);
  await follow("unwound", "execute", [...own, "--l1", other.url], async daemon => {
    const head = layer1.hashOf(layer1.height);
    await layer1.engineOf(other).choose({head, finalized: head}, "osaka");
    await waitForFinalized(daemon, 8);
    assert.deepEqual(
      (await listFinalizations(daemon)).map(([end]) => end),
      [2, 4, 6, 8],
    );
    assert.doesNotMatch(daemon.stderr, /finality has stopped/);
  });
  await Promise.all([below.stop(), other.stop()]);
});

test("the tag of layer 2: named late, moved, left, moved back, and gone while its node unwinds", async () => {
  await follow("tag", "execute", ["--finality", "tag"], async daemon => {
    await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
    await daemon.waitForStderr(/names no finalized block: \S+ refuses \S+ finalized block not found/);
    assert.equal(await readFinalized(daemon), undefined);
    // `safe` finalizes nothing.
    await chain.finalize(3, 6);
    await waitForFinalized(daemon, 3);
    await chain.seal(PAYMENT);
    await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
    await waitForAnswers(daemon);
    assert.equal(await readFinalized(daemon), 3);
    // geth takes a lower block too.
    await chain.finalize(2);
    await waitForAnswers(daemon);
    assert.equal(await readFinalized(daemon), 3);
    await chain.finalize(5);
    await waitForFinalized(daemon, 5);
    // Above it, another branch.
    await chain.reorganise(3, [{}, PAYMENT, PAYMENT, PAYMENT]);
    await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
    await chain.finalize(chain.height - 2);
    await waitForFinalized(daemon, chain.height - 2);
    const finalized = chain.height - 2;
    // An unwound node names none. Its consensus client leads it back.
    await node.request("debug_setHead", "0x4");
    await node.stop();
    await node.restart();
    assert.equal(Number(await node.request("eth_blockNumber")), 4);
    await daemon.waitForStderr(/(names no finalized block.*){2}/s);
    assert.equal(await readFinalized(daemon), finalized);
    await chain.tell(node);
    await chain.seal(PAYMENT);
    await chain.finalize(chain.height);
    await waitForFinalized(daemon, chain.height);
    await node.kill();
    await node.restart();
    assert.ok(Number(await node.request("eth_blockNumber")) < chain.height);
    await daemon.waitForStderr(/(names no finalized block.*){3}/s);
    assert.equal(await readFinalized(daemon), chain.height);
    assert.doesNotMatch(daemon.stderr, /finality has stopped/);
  });
  await node.stop();
});
