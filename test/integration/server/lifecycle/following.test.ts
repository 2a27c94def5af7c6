/** A followed source whose import fails: it is tried again. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {pino} from "pino";
import {Following} from "../../../../server/lifecycle/following/following.ts";
import {SourceStatus} from "../../../../server/observe/sourceStatus.ts";
import type {ImportThread} from "../../../../workers/chain/importSession.ts";
import {createMixedLine} from "../../../support/chains/mixedLines.ts";
import {TrieLogNode} from "../../../support/nodes/trieLogNode.ts";
import {TemporaryStore} from "../../../support/stores/temporaryStore.ts";
import {killThread} from "../../../support/threads/killThread.ts";
import {waitUntil} from "../../../support/wait.ts";

const lines = (count: number) => Array.from({length: count}, (_, at) => createMixedLine(at, 0));

test("an import whose thread dies is tried again", async () => {
  const {node} = await TrieLogNode.start(lines(2));
  const store = await TemporaryStore.create("sha256", 0);
  const {engine} = store;
  const status = new SourceStatus("l2");
  const source = {
    kind: "node",
    source: "trielogs",
    nodes: {urls: [node.url.href], headers: {}, timeoutMs: 60_000, maxAnswerBytes: 1 << 20},
    subscriptions: [],
    genesisPath: undefined,
    follow: true,
    to: undefined,
    surveyAfterMs: 0,
  } as const;
  const rules = {allowUnverified: false};
  const log = pino({level: "silent"});
  const following = new Following({engine, source, rules, status, onFinal: () => {}, log});
  await waitUntil("the state following", () => status.state === "following");
  const {imports} = engine as unknown as {imports: ImportThread};
  await killThread(imports);
  await waitUntil("another state than following", () => status.state !== "following");
  assert.match(status.reason, /^the import thread died: /);
  await node.load(lines(3));
  await waitUntil("block 2", () => engine.chain.head().latest === 2);
  assert.deepEqual([status.retries, status.reason], [1, ""]);
  following.stop();
  await store.close();
  await node.stop();
});
