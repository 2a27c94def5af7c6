/** Which of several nodes is followed, when one is behind and another one is ahead or lies. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {Nodes} from "../../../../../nodes/rpc/nodes.ts";
import {toHex} from "../../../../../storage/hex.ts";
import {HeadSurvey} from "../../../../../workers/import/follow/headSurvey.ts";
import {answerCalls, Upstream, type UpstreamHandler} from "../../../../support/http/upstream.ts";
import {createBlock, hashOf, WrittenStore} from "../../../../support/stores/writtenStore.ts";
import {waitUntil} from "../../../../support/wait.ts";

const HELD = 10;
const HOUR_MS = 3_600_000;

let store: WrittenStore;
let upstreams: Upstream[];
let nodes: Nodes;
let survey: HeadSurvey;

beforeEach(async () => {
  store = await WrittenStore.create(HELD);
  upstreams = [new Upstream(), new Upstream()];
  await Promise.all(upstreams.map(upstream => upstream.start()));
  const urls = upstreams.map(({url}) => url.href);
  nodes = new Nodes({urls, headers: {}, timeoutMs: HOUR_MS, maxAnswerBytes: 10_000}, () => {});
  const times = {everyMs: 0, graceMs: 0, barMs: HOUR_MS};
  survey = new HeadSurvey(nodes, store.host.writer, 0, times);
});

afterEach(async () => {
  await nodes.close();
  await Promise.all([...upstreams.map(upstream => upstream.stop()), store.close()]);
});

/** Blocks of branch 1 up to `shared`, then of branch 2. @param blocks - the last one that it has; default: all up to its head */
function nodeAt(head: number, {shared = head, blocks = head} = {}): UpstreamHandler {
  return answerCalls((_method, [tag]) => {
    const number = tag === "latest" ? head : Number(tag);
    if (tag !== "latest" && number > blocks) return {result: null};
    const [hash, parentHash] = [number, number - 1].map(at => toHex(hashOf(at, at > shared ? 2 : 1)));
    return {result: {number: `0x${number.toString(16)}`, hash, parentHash}};
  });
}

function serve(first: UpstreamHandler, second: UpstreamHandler): void {
  for (const [at, handler] of [first, second].entries()) (upstreams[at] as Upstream).handler = handler;
}

/** @returns which node is asked first after the look: 0 or 1 */
async function look(): Promise<number> {
  await survey.look(store.host.signal);
  const name = await nodes.use(async node => node.name, store.host.signal);
  return upstreams.findIndex(({url}) => url.origin === name);
}

test("a node that is ahead is asked first at the second look, and the other one again once it is ahead", async () => {
  serve(nodeAt(HELD), nodeAt(15));
  assert.deepEqual([await look(), await look()], [0, 1]);
  for (let block = HELD + 1; block <= 15; block++) await store.apply(createBlock(block, 1));
  serve(nodeAt(20), nodeAt(15));
  assert.deepEqual([await look(), await look()], [1, 0]);
});

test("a node that is ahead on another branch is followed, unless the branch begins below the finalized block", async () => {
  serve(nodeAt(HELD), nodeAt(15, {shared: 7}));
  assert.deepEqual([await look(), await look()], [0, 1]);
  nodes.putLast(upstreams[1]?.url.origin as string);
  survey = new HeadSurvey(nodes, store.host.writer, 0, {everyMs: 0, graceMs: 0, barMs: HOUR_MS});
  store.host.writer.markFinalized(8);
  assert.deepEqual([await look(), await look(), await look()], [0, 0, 0]);
});

test("a node that is ahead for less than a look, or names another block the second time, is not followed", async () => {
  serve(nodeAt(HELD), nodeAt(11));
  assert.equal(await look(), 0);
  await store.apply(createBlock(11, 1));
  serve(nodeAt(11), nodeAt(12, {shared: 11}));
  assert.equal(await look(), 0);
  serve(nodeAt(11), nodeAt(12));
  assert.equal(await look(), 0);
});

test("a node that does not have the first block that is not stored is not followed", async () => {
  serve(nodeAt(HELD), nodeAt(2 ** 30, {blocks: HELD}));
  assert.deepEqual([await look(), await look(), await look()], [0, 0, 0]);
});

test("a node whose block does not come is asked last again, and is not believed any more", async () => {
  serve(nodeAt(HELD), nodeAt(2 ** 30));
  assert.deepEqual([await look(), await look(), await look(), await look()], [0, 1, 0, 0]);
});

test("what ends a look that nobody waits for is thrown by the next look", async () => {
  serve(nodeAt(HELD), nodeAt(15));
  const fault = new Error("no time");
  const times = {
    everyMs: 0,
    barMs: HOUR_MS,
    get graceMs(): number {
      throw fault;
    },
  };
  survey = new HeadSurvey(nodes, store.host.writer, 0, times);
  await survey.look(store.host.signal);
  void survey.look(store.host.signal);
  await waitUntil("its failure", () => {
    try {
      void survey.look(store.host.signal);
      return false;
    } catch (error) {
      return error === fault;
    }
  });
});

test("one node is asked nothing", async () => {
  const [first] = upstreams as [Upstream];
  const alone = new Nodes(
    {urls: [first.url.href], headers: {}, timeoutMs: HOUR_MS, maxAnswerBytes: 10_000},
    () => {},
  );
  survey = new HeadSurvey(alone, store.host.writer, 0);
  await survey.look(store.host.signal);
  assert.equal(first.requests.length, 0);
  await alone.close();
});
