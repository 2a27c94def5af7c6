/** Several nodes, each a real HTTP server. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, describe, test} from "node:test";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";
import {Nodes, type NodesEvent, type NodesSettings} from "../../../../nodes/rpc/nodes.ts";
import {answerText, Upstream, type UpstreamHandler} from "../../../support/http/upstream.ts";
import {waitUntil} from "../../../support/wait.ts";

/** Where it must not be over, on any machine. */
const TIMEOUT_MS = 3_600_000;
const BACKOFF = {firstMs: 2, longestMs: 20};
const DOWN = answerText("", 500);

/** Answers eth_chainId with `chainId`, and anything else with `name`. */
function answerAs(name: string, chainId = 5): UpstreamHandler {
  return (request, response) => {
    const result = request.call.method === "eth_chainId" ? `0x${chainId.toString(16)}` : name;
    answerText(`{"jsonrpc":"2.0","id":ID,"result":"${result}"}`)(request, response);
  };
}

function askName(node: Node): Promise<unknown> {
  return node.request("eth_name", []);
}

describe("Nodes", () => {
  let first: Upstream;
  let second: Upstream;
  let ending: AbortController;
  let events: NodesEvent[];
  let nodes: Nodes;

  beforeEach(async () => {
    [first, second] = [new Upstream(), new Upstream()];
    await Promise.all([first.start(), second.start()]);
    first.handler = answerAs("first");
    second.handler = answerAs("second");
    ending = new AbortController();
    events = [];
  });

  afterEach(async () => {
    await nodes.close();
    await Promise.all([first.stop(), second.stop()]);
  });

  function createNodes(
    upstreams: readonly Upstream[],
    settings: Partial<NodesSettings> = {},
    backoff = BACKOFF,
  ) {
    const urls = upstreams.map(({url}) => url.href);
    const full = {urls, headers: {}, timeoutMs: TIMEOUT_MS, maxAnswerBytes: 10_000, ...settings};
    nodes = new Nodes(full, event => events.push(event), backoff);
  }

  function use<Result>(work: (node: Node) => Promise<Result>): Promise<Result> {
    return nodes.use(work, ending.signal);
  }

  /** Uses the nodes until one of this name answers. */
  async function useUntil(name: string): Promise<void> {
    await waitUntil(`an answer of ${name}`, async () => (await use(askName)) === name);
  }

  function methodsOf({requests}: Upstream): string[] {
    return requests.map(({call}) => call.method);
  }

  function states(upstream: Upstream): string[] {
    return events
      .filter(({name}) => name === upstream.url.origin)
      .map(({state, reason}) => `${state}: ${reason}`);
  }

  test("each node that is not left alone is asked, and of the others it is told what they do", async () => {
    createNodes([first, second], {}, {firstMs: TIMEOUT_MS, longestMs: TIMEOUT_MS});
    const [firstName, secondName] = [first.url.origin, second.url.origin];
    const each = () => nodes.useEach(askName, ending.signal);
    assert.deepEqual(await each(), {results: ["first", "second"], silent: []});
    second.handler = answerText(
      '{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no such method"}}',
    );
    const refusal = `${secondName} refuses eth_name: no such method (-32601)`;
    assert.deepEqual(await each(), {results: ["first"], silent: [refusal]});
    second.handler = answerAs("second");
    first.handler = DOWN;
    assert.deepEqual(await each(), {results: ["second"], silent: [`${firstName} does not answer`]});
    first.handler = answerAs("first");
    assert.deepEqual(await each(), {results: ["second"], silent: [`${firstName} does not answer`]});
  });

  test("a reason has no keys and no lines of a node's text, and two URLs of one host have two names", async () => {
    const keyed = (path: string) => ({url: new URL(path, first.url)}) as Upstream;
    createNodes([keyed("/key-number-one"), keyed("/key-number-two")]);
    let tries = 0;
    const name = await use(async node => {
      if (tries++ === 0) throw new NodeFailure("its hash is key-number-one\n{}");
      await askName(node);
      return node.name;
    });
    assert.equal(name, `${first.url.origin} (2)`);
    assert.deepEqual(events, [
      {kind: "node", name: first.url.origin, state: "down", reason: "its hash is *** {}"},
      {kind: "node", name, state: "up", reason: "it answers"},
    ]);
  });

  test("work goes to the first node of the settings while it answers", async () => {
    createNodes([first, second]);
    for (let at = 0; at < 5; at++) assert.equal(await use(askName), "first");
    assert.equal(second.requests.length, 0);
    assert.deepEqual(events, [{kind: "node", name: first.url.origin, state: "up", reason: "it answers"}]);
  });

  test("a node that came back is used again, with one event for each change", async () => {
    createNodes([first, second]);
    await use(askName);
    first.handler = DOWN;
    await useUntil("second");
    // It is probed and fails, several times.
    const before = first.requests.length;
    while (first.requests.length < before + 3) assert.equal(await use(askName), "second");
    first.handler = answerAs("first");
    await useUntil("first");
    assert.deepEqual(states(first), ["up: it answers", "down: it answered HTTP 500", "up: it answers"]);
    assert.deepEqual(states(second), ["up: it answers"]);
  });

  test("no work waits for a node that was down, while another is up", async () => {
    createNodes([first, second]);
    first.handler = DOWN;
    assert.equal(await use(askName), "second");
    // It takes requests and never answers. Only a probe may wait for it.
    first.handler = () => {};
    const before = first.requests.length;
    while (first.requests.length === before) assert.equal(await use(askName), "second");
    for (let at = 0; at < 20; at++) assert.equal(await use(askName), "second");
    assert.deepEqual(methodsOf(first).slice(before), ["eth_chainId"]);
  });

  test("of a node that stays down another reason is told, but not another number in it", async () => {
    createNodes([first]);
    const gone = ["a", "b"].map(digit => `historical state ${digit.repeat(64)} is not available`);
    const reasons = ["block 5 is missing", "block 6 is missing", "its block 0x07 is cut", ...gone];
    await use(async () => {
      const reason = reasons.shift();
      if (reason !== undefined) throw new NodeFailure(reason);
    });
    assert.deepEqual(states(first), [
      "down: block 5 is missing",
      "down: its block 0x07 is cut",
      `down: ${gone[0]}`,
      "up: it answers",
    ]);
  });

  test("a node is left alone as long as Retry-After says", async () => {
    createNodes([first, second]);
    first.handler = (_request, response) => response.writeHead(429, {"retry-after": "3600"}).end();
    for (let at = 0; at < 20; at++) assert.equal(await use(askName), "second");
    assert.equal(first.requests.length, 1);
    assert.deepEqual(states(first), ["down: it answered HTTP 429"]);
  });

  test("what a node refuses for a reason of its own is asked of the next one, and fails once every node refuses it", async () => {
    const refuse = answerText(
      '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"header not found"}}',
    );
    first.handler = refuse;
    createNodes([first, second]);
    assert.equal(await use(askName), "second");
    const reason = `${first.url.origin} refuses eth_name: header not found (-32000)`;
    assert.deepEqual(states(first), [`down: ${reason}`]);
    second.handler = refuse;
    const {length: before} = second.requests;
    await assert.rejects(use(askName), {name: "NodeRefusal", code: -32000});
    const asked = [first, second]
      .flatMap(({requests}) => requests)
      .filter(({call}) => call.method === "eth_name");
    assert.ok(second.requests.length > before && asked.length >= 6, `${asked.length}`);
  });

  test("other errors pass through, and a refusal of the call itself shows that the node answers", async () => {
    createNodes([first]);
    const error = new Error("of the work");
    await assert.rejects(
      use(() => Promise.reject(error)),
      error,
    );
    assert.deepEqual(events, []);
    first.handler = answerText(
      '{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no such method"}}',
    );
    await assert.rejects(use(askName), {name: "NodeRefusal", code: -32601});
    assert.deepEqual(states(first), ["up: it answers"]);
  });

  test("a node of another chain is refused and never asked for work", async () => {
    first.handler = answerAs("first", 6);
    createNodes([first, second], {chainId: 5n});
    assert.equal(await use(askName), "second");
    assert.deepEqual(states(first), ["refused: expected a node of chain 5, got chain 6"]);
    while (first.requests.length < 3) assert.equal(await use(askName), "second");
    assert.ok(!methodsOf(first).includes("eth_name"));
    first.handler = answerAs("first");
    await useUntil("first");
    assert.equal(states(first).length, 2);
  });

  test("the chain is asked for once, and again after a lost connection", async () => {
    createNodes([first], {chainId: 5n});
    for (let at = 0; at < 3; at++) await use(askName);
    assert.deepEqual(methodsOf(first), ["eth_chainId", "eth_name", "eth_name", "eth_name"]);
    await first.stop();
    first.handler = answerAs("first", 6);
    await first.start();
    const abandoned = assert.rejects(use(askName), {name: "AbortError"});
    // The work's request may be what finds the connection lost. Its answer does not count.
    await waitUntil("a refused node", () => states(first).at(-1)?.startsWith("refused") ?? false);
    ending.abort();
    await abandoned;
    assert.equal(states(first).at(-1), "refused: expected a node of chain 5, got chain 6");
  });

  test("work in the middle of which the node became one of another chain is not believed", async () => {
    createNodes([first, second], {chainId: 5n});
    const name = await use(async node => {
      const name = await askName(node);
      if (name === "second") return name;
      await first.stop();
      first.handler = answerAs("impostor", 6);
      await first.start();
      return askName(node);
    });
    assert.equal(name, "second");
    assert.deepEqual(states(first), ["refused: expected a node of chain 5, got chain 6"]);
  });

  test("an answer to eth_chainId that is no quantity is a failure", async () => {
    first.handler = answerText('{"jsonrpc":"2.0","id":ID,"result":5}');
    createNodes([first, second], {chainId: 5n});
    assert.equal(await use(askName), "second");
    assert.deepEqual(states(first), ["down: its response to eth_chainId is not a chain id"]);
  });

  test("the signal ends waits between tries and requests, with its reason", async () => {
    createNodes([first], {}, {firstMs: TIMEOUT_MS, longestMs: TIMEOUT_MS});
    const reason = new Error("enough");
    first.handler = () => {};
    const request = assert.rejects(use(askName), reason);
    await waitUntil("a request", () => first.requests.length > 0);
    first.handler = DOWN;
    const wait = assert.rejects(use(askName), reason);
    await waitUntil("an event", () => events.length > 0);
    ending.abort(reason);
    await Promise.all([request, wait]);
    await assert.rejects(use(askName), reason);
  });

  test("closing ends every use, and is no change of state", async () => {
    createNodes([first], {}, {firstMs: TIMEOUT_MS, longestMs: TIMEOUT_MS});
    first.handler = () => {};
    const request = assert.rejects(use(askName), /^Error: the nodes are closed$/);
    await waitUntil("a request", () => first.requests.length > 0);
    await nodes.close();
    await request;
    await assert.rejects(use(askName), /^Error: the nodes are closed$/);
    assert.deepEqual(events, []);
  });

  test("many uses at once that fail together are one failure of the node", async () => {
    createNodes([first], {}, {firstMs: 2, longestMs: TIMEOUT_MS});
    const held: (() => void)[] = [];
    first.handler = (request, response) => held.push(() => DOWN(request, response));
    const answered = Promise.all(Array.from({length: 12}, () => use(askName)));
    await waitUntil("twelve requests", () => held.length === 12);
    // Each as a failure of its own would double the wait twelve times.
    first.handler = answerAs("first");
    for (const answer of held) answer();
    assert.deepEqual(await answered, new Array(12).fill("first"));
    assert.deepEqual(states(first), ["down: it answered HTTP 500", "up: it answers"]);
  });
});
