/**
 * Withdrawals of an OP-stack chain, proven by viem with proofd alone: with a store of the whole chain, and with one of the contract
 * L2ToL1MessagePasser. The results are those with op-geth. The tests run in this order.
 */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {createRequire} from "node:module";
import {after, before, test} from "node:test";
import {fileURLToPath, pathToFileURL} from "node:url";
import {OpChain} from "../support/chains/opChain.ts";
import {PASSER, withdrawals} from "../support/chains/opTraffic.ts";
import type {AskedService} from "../support/http/askedService.ts";
import {OwnService} from "../support/http/ownService.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {hasNode} from "../support/processes/nodePrograms.ts";
import {describeNeeding} from "../support/processes/notRun.ts";

interface Withdrawal {
  readonly withdrawalHash: string;
}

interface Proven {
  readonly outputRootProof: Readonly<Record<string, string>>;
  readonly withdrawalProof: readonly string[];
}

/** What the tests use of viem. Its own types take the compiler longer than all tests. */
interface Viem {
  createPublicClient(settings: {transport: unknown}): unknown;
  http(url: string): unknown;
  getWithdrawals(receipt: {logs: readonly unknown[]}): Withdrawal[];
  buildProveWithdrawal(client: unknown, params: object): Promise<Proven>;
}

interface Sent extends Withdrawal {
  readonly block: number;
  readonly transaction: string;
}

const EXAMPLE = fileURLToPath(import.meta.resolve("#package/examples/withdrawal/prove.js"));
const VIEM = fileURLToPath(new URL("node_modules/viem", pathToFileURL(EXAMPLE)));
/** Each era has a block with withdrawals. jovian's first block has none. */
const FORKS = {canyon: 2, ecotone: 3, holocene: 4, isthmus: 5, jovian: 6};
const BEFORE = [...withdrawals(0, 10, 2), {}];
const LATER = withdrawals(10, 20, 5);
/** The store of the contract begins with this block. */
const START = BEFORE.length;

const program = hasNode("op-geth") ? undefined : "op-geth is not installed: node dist/test/nodes/install.js";
const lack =
  program ?? (existsSync(VIEM) ? undefined : "viem is not installed: npm ci --prefix examples/withdrawal");
describeNeeding(lack, "withdrawals", () => {
  let viem: Viem;
  let chain: OpChain;
  let whole: OwnService;
  let slice: OwnService;
  const sent: Sent[] = [];

  before(async () => {
    const load = createRequire(EXAMPLE);
    viem = {...load("viem"), ...load("viem/op-stack")};
    chain = await OpChain.create(FORKS);
    for (const plan of BEFORE) await chain.seal(plan);
    const node = ["--l2", chain.node.url, "--finality", "tag"];
    whole = await OwnService.serve(["--db", chain.file("whole"), "--genesis", chain.genesisPath, ...node]);
    slice = await OwnService.serve(["--db", chain.file("slice"), "--contracts", PASSER, ...node]);
    await waitFor(slice, START, "latest");
    for (const plan of LATER) {
      await chain.seal(plan);
      await waitFor(slice, chain.height, "latest");
    }
    await chain.finalize(chain.height);
    for (const service of [whole, slice]) await waitFor(service, chain.height, "finalized");
    for (let block = 1; block <= chain.height; block++) sent.push(...(await readSent(block)));
  });

  after(async () => {
    await whole?.stop();
    await slice?.stop();
    await chain?.stop();
  });

  async function waitFor(service: AskedService, block: number, edge: "latest" | "finalized"): Promise<void> {
    await service.until(`block ${block} to be ${edge}`, async () => {
      return (await service.call("chain_getCoverage")).result?.[edge] === quantity(block);
    });
  }

  async function readSent(block: number): Promise<Sent[]> {
    const receipts = await chain.node.request<{transactionHash: string; logs: []}[]>(
      "eth_getBlockReceipts",
      quantity(block),
    );
    return receipts.flatMap(({transactionHash: transaction, logs}) =>
      viem.getWithdrawals({logs}).map(withdrawal => ({...withdrawal, block, transaction})),
    );
  }

  /** As a dispute game at this block has it. */
  function prove(
    url: string,
    {block: _block, transaction: _transaction, ...withdrawal}: Sent,
    block: number,
  ) {
    const client = viem.createPublicClient({transport: viem.http(url)});
    const game = {index: 7n, l2BlockNumber: BigInt(block), usesSuperRoots: false};
    return viem.buildProveWithdrawal(client, {game, withdrawal});
  }

  async function compare(service: AskedService, one: Sent, block: number): Promise<void> {
    const [own, theirs] = await Promise.all([service.url, chain.node.url].map(url => prove(url, one, block)));
    assert.deepEqual(own, theirs, `withdrawal of block ${one.block} at block ${block}`);
    assert.ok((theirs?.withdrawalProof.length ?? 0) > 0);
  }

  test("viem proves each withdrawal at each later block as with op-geth, from a store of the whole chain", async t => {
    let proofs = 0;
    for (const one of sent)
      for (let block = one.block; block <= chain.height; block++, proofs++) await compare(whole, one, block);
    assert.ok(sent.length >= 30, `${sent.length} withdrawals`);
    t.diagnostic(`${sent.length} withdrawals, ${proofs} proofs`);
  });

  test("and from a store of the one contract, also those of blocks before it began", async () => {
    assert.ok(sent.some(({block}) => block < START));
    for (const one of sent)
      for (let block = Math.max(START, one.block); block <= chain.height; block++)
        await compare(slice, one, block);
  });

  test("headers are op-geth's, without the lists that a header does not have", async () => {
    for (let block = 0; block <= chain.height; block++) {
      const {size: _size, ...header} = await chain.node.request<Record<string, unknown>>(
        "eth_getBlockByNumber",
        quantity(block),
        false,
      );
      if ((header.transactions as []).length > 0) delete header.transactions;
      // The contract's storage root is in the place of the root of withdrawals.
      if (block >= FORKS.isthmus) delete header.withdrawals;
      for (const service of block < START ? [whole] : [whole, slice]) {
        const {result} = await service.call("eth_getBlockByNumber", [quantity(block), false]);
        assert.deepEqual(result, header);
      }
    }
  });

  test("the example prints what a contract on layer 1 takes, and refuses the output root of another block", async () => {
    const one = sent.find(({block}) => block < START) as Sent;
    const {outputRootProof, withdrawalProof} = await prove(chain.node.url, one, START);
    const run = (root: string) => {
      const flags = {
        proofd: slice.url,
        l2: chain.node.url,
        transaction: one.transaction,
        block: START,
        game: 7,
        root,
      };
      return runChild(process.execPath, [
        EXAMPLE,
        ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, `${value}`]),
      ]);
    };
    const refused = await run(`0x${"00".repeat(32)}`);
    assert.equal(refused.code, 1);
    const root = /^Error: block 6 has the output root (0x\w{64}), not 0x0{64}\n$/.exec(refused.stderr)?.[1];
    assert.ok(root !== undefined, refused.stderr);
    const {code, stdout, stderr} = await run(root);
    assert.equal(code, 0, stderr);
    const printed = JSON.parse(stdout);
    assert.deepEqual(printed.outputRootProof, outputRootProof);
    assert.deepEqual(printed.withdrawalProof, withdrawalProof);
    assert.equal(printed.withdrawal.withdrawalHash, one.withdrawalHash);
    assert.equal(printed.l2OutputIndex, "7");
  });
});

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}
