/** eth_getProof at every block is geth's to the byte, also after reorganisations and while blocks are pruned. */
import assert from "node:assert/strict";
import {randomInt} from "node:crypto";
import {after, before, test} from "node:test";
import {Random} from "../../load/requests/random.ts";
import {sendCommand} from "../../server/lifecycle/control/controlClient.ts";
import {makeProofBatch} from "../support/chains/conformanceChain.ts";
import {EngineChain} from "../support/chains/engineChain.ts";
import {allocatePassing, PASSING, randomPlans} from "../support/chains/engineTraffic.ts";
import {PEOPLE} from "../support/chains/people.ts";
import {machine} from "../support/chains/stateTraffic.ts";
import type {AskedService} from "../support/http/askedService.ts";
import {EngineFollowers} from "../support/http/engineFollowers.ts";
import {readTouched} from "../support/http/gethComparison.ts";
import {waitForHash} from "../support/http/nodeFollower.ts";
import {OwnService} from "../support/http/ownService.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {type EthAnswer, withBranches} from "../support/reference/ethState.ts";
import {isSoak} from "../support/soak.ts";

const BLOCKS = isSoak() ? 1000 : 100;
const DEPTH = 32;
const REORGANISATIONS = isSoak() ? 3 : 2;
/** The others are under shanghai, where contracts are deleted. */
const UNDER_CANCUN = 20;
/** Of an account, spread over all of its touched ones. */
const MOST_KEYS = 40;
/** Of one eth_getMultiProof: their keys are within its limit. */
const MOST_TARGETS = 40;
const MANY_STEP = 10;
const KEPT = 10;
/** Blocks that are finalized while the ones before them are pruned and read. */
const MORE = 30;
const READERS = 4;
/** geth's code hash of an account that does not exist. */
const ABSENT = `0x${"00".repeat(32)}`;

const seed = randomInt(2 ** 31);
const random = new Random(seed, 0);
const below = (limit: number) => random.below(limit);

let chain: EngineChain;
let node: RealNode;
let followers: EngineFollowers;
/** As for makeProofBatch, of all branches. */
const params = new Map<string, {readonly address: string; readonly keys: readonly string[]}>();
/** geth's answers of now, by block. */
const answers: string[] = [];

before(async () => {
  const last = BLOCKS - UNDER_CANCUN;
  const forks = {cancun: last, prague: last + UNDER_CANCUN / 4, osaka: last + UNDER_CANCUN / 2};
  chain = await EngineChain.create(forks, allocatePassing());
  node = await chain.addNode(["--state.scheme", "hash"]);
});

after(async () => {
  await followers?.stop();
  await chain?.stop();
});

async function noteTouched(): Promise<void> {
  const touched = await readTouched(node, chain.height);
  for (const address of [...PASSING, ...PEOPLE, machine, ...touched.keys()]) {
    const keys = [...new Set([...(params.get(address)?.keys ?? []), ...(touched.get(address) ?? [])])];
    const step = Math.ceil(keys.length / MOST_KEYS);
    params.set(address, {address, keys: keys.filter((_, at) => at % step === 0)});
  }
}

async function ask({url}: Pick<AskedService | RealNode, "url">, block: number): Promise<string> {
  const headers = {"content-type": "application/json"};
  const body = makeProofBatch(block, [...params.values()]);
  const response = await fetch(url, {method: "POST", headers, body});
  return (await response.text()).trim();
}

/** What geth proves by itself, in one answer of eth_getMultiProof. */
async function compareMany(block: number): Promise<void> {
  const singles = JSON.parse(answers[block] as string) as {result: EthAnswer}[];
  const targets = [...params.values()].map(({address, keys}) => [address, keys]);
  for (let first = 0; first < targets.length; first += MOST_TARGETS) {
    const asked = [targets.slice(first, first + MOST_TARGETS), `0x${block.toString(16)}`];
    const {result} = await followers.ask(block, daemon => daemon.call("eth_getMultiProof", asked));
    for (const [at, one] of (result as EthAnswer[]).entries()) {
      const single = singles[2 * (first + at) + 1]?.result as EthAnswer;
      assert.equal(
        JSON.stringify(one),
        JSON.stringify(withBranches(single, one)),
        `seed ${seed}, block ${block}`,
      );
    }
    assert.equal(result.length, asked[0]?.length);
  }
}

/** Of every block, by both sources in turn. */
async function compare(): Promise<void> {
  await noteTouched();
  await followers.finalize(chain.height);
  answers.length = 0;
  for (let block = 0; block <= chain.height; block++) {
    answers.push(await ask(node, block));
    const own = await followers.ask(block, daemon => ask(daemon, block));
    assert.ok(
      own === answers[block],
      `seed ${seed}, block ${block}: ${firstDifference(own, answers[block])}`,
    );
    if (block % MANY_STEP === 0) await compareMany(block);
  }
}

/** How often these accounts came and went. */
function countChanges(addresses: readonly string[]): string {
  const positions = addresses.map(address => [...params.keys()].indexOf(address));
  let [came, went] = [0, 0];
  let before: string[] = [];
  for (const text of answers) {
    const all = JSON.parse(text) as {result: {codeHash: string}}[];
    const now = positions.map(at => all[2 * at]?.result.codeHash ?? ABSENT);
    for (const [at, one] of before.entries()) {
      if (one === ABSENT && now[at] !== ABSENT) came++;
      if (one !== ABSENT && now[at] === ABSENT) went++;
    }
    before = now;
  }
  return `${came} came, ${went} went`;
}

function firstDifference(own: string, other = ""): string {
  const at = [...own].findIndex((digit, position) => digit !== other[position]);
  return `${own.slice(at - 300, at + 60)} | ${other.slice(at - 10, at + 60)}`;
}

test("at every block of a chain, and again after each reorganisation of the newest 32", async t => {
  t.diagnostic(`seed ${seed}`);
  for (const plan of randomPlans(BLOCKS - DEPTH, below)) await chain.seal(plan);
  followers = await EngineFollowers.serve(chain, node);
  await compare();
  for (let round = 0; round < REORGANISATIONS; round++) {
    for (const plan of randomPlans(DEPTH, below)) await chain.seal(plan);
    await followers.follow();
    await noteTouched();
    await chain.reorganise(DEPTH, randomPlans(DEPTH, below));
    await followers.follow();
    await compare();
  }
  t.diagnostic(
    `${chain.height} blocks, ${params.size} accounts; ${countChanges([machine])} and ${countChanges(PASSING)}`,
  );
});

test("while old blocks are pruned, each is answered as geth does, or said to be pruned", async t => {
  const [[db, flags] = ["", []]] = EngineFollowers.flags(chain, node, "undisturbed");
  await followers.stop();
  let finalized = chain.height;
  /** Is it now, or will be soon. */
  let ordered = finalized;
  for (const plan of randomPlans(MORE, below)) await chain.seal(plan);
  for (let block = finalized; block <= chain.height; block++) answers[block] = await ask(node, block);
  const daemon = await OwnService.serve([...flags, "--history", `${KEPT}`]);
  const counts = {answered: 0, pruned: 0};
  const read = async (stream: number): Promise<void> => {
    const choice = new Random(seed, stream);
    while (finalized < chain.height) {
      const block = finalized - choice.below(2 * KEPT);
      const text = await ask(daemon, block);
      if (text === answers[block]) {
        counts.answered++;
        continue;
      }
      assert.ok(block <= ordered - KEPT, `seed ${seed}, block ${block}: ${text.slice(0, 300)}`);
      const others = JSON.parse(answers[block] as string) as object[];
      const message = new RegExp(`^block 0x${block.toString(16)} is pruned: `);
      // The batch may have begun before its block was pruned.
      for (const [at, own] of (JSON.parse(text) as {error?: {message: string}}[]).entries())
        if (own.error === undefined) assert.deepEqual(own, others[at]);
        else assert.match(own.error.message, message);
      counts.pruned++;
    }
  };
  const finalize = async (): Promise<void> => {
    await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
    while (finalized < chain.height) {
      const [seen, to] = [counts.answered, Math.min(finalized + 3, chain.height)];
      ordered = to;
      assert.ok((await sendCommand(db, {kind: "finalize", to})).ok);
      await daemon.until(
        `blocks before the newest ${KEPT} of ${to} to be pruned, and others to be read`,
        async () => {
          const {result} = await daemon.call("chain_getCoverage");
          return Number(result.earliest) === to - KEPT + 1 && counts.answered > seen;
        },
      );
      finalized = to;
    }
  };
  t.after(() => daemon.stop());
  await Promise.all([finalize(), ...Array.from({length: READERS}, (_, at) => read(at + 1))]);
  t.diagnostic(`${counts.answered} batches answered, ${counts.pruned} of pruned blocks`);
  assert.ok(counts.pruned > 0);
});
