/** Calls of one node, over real sockets. */
import assert from "node:assert/strict";
import type {ServerResponse} from "node:http";
import {type AddressInfo, createServer} from "node:net";
import {afterEach, beforeEach, describe, test} from "node:test";
import {type Node, NodeFailure, NodeRefusal} from "../../../../nodes/rpc/node.ts";
import {MAX_BATCH_CALLS, NodeCaller} from "../../../../nodes/rpc/nodeCaller.ts";
import {answerCalls, answerText, Upstream, type UpstreamHandler} from "../../../support/http/upstream.ts";
import {once, waitUntil} from "../../../support/wait.ts";

/** Where it must not be over, on any machine. */
const TIMEOUT_MS = 3_600_000;
const MAX_ANSWER_BYTES = 10_000;

interface SentCall {
  readonly id: number;
  readonly params: readonly unknown[];
}

/** Answers each call of a batch with its first parameter, in the opposite order. */
const echo: UpstreamHandler = ({body}, response) => {
  const calls: SentCall | SentCall[] = JSON.parse(body);
  const answer = ({id, params}: SentCall) => ({jsonrpc: "2.0", id, result: params[0]});
  response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer).reverse() : answer(calls)));
};

function callsOf(count: number) {
  return Array.from({length: count}, (_, at) => ({method: "eth_echo", params: [at]}));
}

describe("NodeCaller", () => {
  const ending = new AbortController();
  let upstream: Upstream;
  let caller: NodeCaller;
  let node: Node;

  beforeEach(async () => {
    upstream = new Upstream();
    await upstream.start();
    await use(upstream.url);
  });

  afterEach(async () => {
    await caller.close();
    await upstream.stop();
  });

  async function use(url: URL, timeoutMs = TIMEOUT_MS, headers: Record<string, string> = {}) {
    await caller?.close();
    const settings = {headers, timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, connections: 4};
    caller = new NodeCaller(url, settings, () => {});
    node = caller.bind(ending.signal);
  }

  async function failureOf(answered: Promise<unknown>): Promise<NodeFailure> {
    const error = await answered.then(
      () => assert.fail("no failure"),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof NodeFailure, String(error));
    assert.doesNotMatch(error.message, /secret|127\.0\.0\.1/);
    return error;
  }

  /** How many calls each request had. */
  function batchSizes(): number[] {
    return upstream.requests.map(({body}) => [JSON.parse(body)].flat().length);
  }

  test("the length of answers is told while they come, those of batches too", async () => {
    let bytes = 0;
    const metered = caller.bind(ending.signal, part => {
      bytes += part;
    });
    upstream.handler = echo;
    await metered.request("eth_echo", ["0123456789"]);
    assert.equal(bytes, '{"jsonrpc":"2.0","id":0,"result":"0123456789"}'.length);
    await metered.requestAll(callsOf(2));
    assert.equal(
      bytes,
      46 + '[{"jsonrpc":"2.0","id":1,"result":0},{"jsonrpc":"2.0","id":2,"result":1}]'.length,
    );
  });

  test("a call is JSON-RPC 2.0, with the headers of the settings and the URL's user and password", async () => {
    const url = Object.assign(upstream.url, {username: "us er", password: "pass:wörd"});
    await use(url, TIMEOUT_MS, {"x-api-key": "secret"});
    upstream.handler = echo;
    assert.deepEqual(await node.request("eth_echo", [{a: [1]}]), {a: [1]});
    const [{head, call}] = upstream.requests as [(typeof upstream.requests)[0]];
    assert.deepEqual({...call, id: 0}, {jsonrpc: "2.0", id: 0, method: "eth_echo", params: [{a: [1]}]});
    assert.equal(head.url, "/rpc?key=path-secret");
    assert.equal(head.headers["x-api-key"], "secret");
    const credentials = Buffer.from("us er:pass:wörd").toString("base64");
    assert.equal(head.headers.authorization, `Basic ${credentials}`);
    assert.equal(node.name, upstream.url.origin);
  });

  test("many calls are several batches, and their results come in the order of the calls", async () => {
    upstream.handler = echo;
    const count = 2 * MAX_BATCH_CALLS + 1;
    assert.deepEqual(
      await node.requestAll(callsOf(count)),
      callsOf(count).map(({params}) => params[0]),
    );
    assert.deepEqual(batchSizes(), [MAX_BATCH_CALLS, MAX_BATCH_CALLS, 1]);
    assert.ok(!upstream.requests.at(-1)?.body.startsWith("["), "one call is no batch");
    assert.deepEqual(await node.requestAll([]), []);
  });

  const REFUSAL = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}';

  /** Refuses a batch of more calls than `most`. */
  function limitCalls(most: number, refuse: UpstreamHandler): UpstreamHandler {
    return (request, response) => ([request.call].flat().length > most ? refuse : echo)(request, response);
  }

  /** Answers the first calls of a batch, and refuses the others. */
  function answerFirst(count: number, error: object): UpstreamHandler {
    return ({body}, response) => {
      const answers = JSON.parse(body).map(({id, params}: SentCall, at: number) => {
        const member = at < count ? {result: params[0]} : {error};
        return {jsonrpc: "2.0", id, ...member};
      });
      response.end(JSON.stringify(answers));
    };
  }

  const hangUp: UpstreamHandler = (_request, response) => void response.destroy();
  const REFUSED = {code: -32014, message: "too many calls"};
  const WAYS: readonly (readonly [name: string, refuse: UpstreamHandler])[] = [
    ...[200, 400, 402, 403, 413, 429, 500, 503].map(
      status => [`HTTP ${status} and no JSON`, answerText("too many", status)] as const,
    ),
    ...[200, 403, 429, 500].map(
      status => [`HTTP ${status} and an error of JSON-RPC`, answerText(REFUSAL, status)] as const,
    ),
    // geth's, for more calls than it takes.
    ["an array of one error", answerText(`[${REFUSAL}]`)],
    ["an internal error", answerText(REFUSAL.replace("-32600", "-32603"))],
    ["a dropped connection", hangUp],
    ["an answer that is too long", answerText("x".repeat(MAX_ANSWER_BYTES + 1))],
    ["an error of each call", answerFirst(0, REFUSED)],
    ["errors of its later calls", answerFirst(1, {code: -32003, message: "response too large"})],
  ];

  for (const [name, refuse] of WAYS)
    test(`a batch that is refused by ${name} is sent in smaller ones, and the next ones are as small`, async () => {
      for (const most of [3, 1]) {
        await use(upstream.url);
        upstream.handler = limitCalls(most, refuse);
        assert.deepEqual(await node.requestAll(callsOf(7)), [0, 1, 2, 3, 4, 5, 6]);
        upstream.requests.length = 0;
        assert.deepEqual(await node.requestAll(callsOf(7)), [0, 1, 2, 3, 4, 5, 6]);
        assert.deepEqual(batchSizes(), most === 3 ? [3, 3, 1] : [1, 1, 1, 1, 1, 1, 1]);
      }
    });

  test("batches become larger again once 64 were answered", async () => {
    upstream.handler = limitCalls(3, answerText("", 500));
    await node.requestAll(callsOf(7));
    upstream.handler = echo;
    upstream.requests.length = 0;
    for (let at = 0; at < 65; at++) await node.requestAll(callsOf(3));
    for (const count of [3, 6, 12, 24, 48, 96, 100]) await node.requestAll(callsOf(count));
    assert.deepEqual(new Set(batchSizes().slice(0, 65)), new Set([3]));
    assert.deepEqual(batchSizes().slice(65), [3, 6, 12, 24, 48, 96, 100]);
  });

  test("a node that is down is sent one batch and one call of it", async () => {
    for (const down of [answerText("", 503), answerText("", 500), answerText("<html>")]) {
      await use(upstream.url);
      upstream.handler = down;
      for (const count of [100, 2]) {
        upstream.requests.length = 0;
        await failureOf(node.requestAll(callsOf(count)));
        assert.deepEqual(batchSizes(), [count, 1]);
      }
    }
  });

  test("an internal error is asked again alone, of two calls both again", async () => {
    for (const [count, sizes] of [
      [1, [1, 1, 1]],
      [2, [2, 1, 1, 2]],
      [8, [8, 1, 1, 4, 3]],
    ] as const) {
      upstream.requests.length = 0;
      await use(upstream.url);
      let errorsLeft = 2;
      upstream.handler = answerCalls((_method, [value]) =>
        value === 0 && errorsLeft-- > 0 ? {error: {code: -32603, message: "busy"}} : {result: value},
      );
      const calls = callsOf(count);
      assert.deepEqual(
        await node.requestAll(calls),
        calls.map(({params}) => params[0]),
      );
      assert.deepEqual(batchSizes(), sizes);
    }
    upstream.handler = answerCalls(() => ({error: {code: -32603, message: "busy"}}));
    upstream.requests.length = 0;
    const {message} = await failureOf(node.request("eth_echo", [1]));
    assert.equal(message, "it fails at eth_echo: busy (-32603)");
    assert.deepEqual(batchSizes(), [1, 1, 1]);
  });

  test("two calls are one batch again after one of them was refused in any way", async () => {
    const range = '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"block range is too wide"}}';
    for (const status of [200, 402, 403, 413, 429, 500, 503]) {
      await use(upstream.url);
      upstream.handler = (request, response) =>
        (request.body.includes('"params":[1]') ? answerText(range, status) : echo)(request, response);
      await assert.rejects(node.requestAll(callsOf(2)), {name: "NodeRefusal", code: -32000});
      upstream.handler = echo;
      upstream.requests.length = 0;
      await node.requestAll(callsOf(2));
      assert.deepEqual(batchSizes(), [2]);
    }
  });

  test("the first call that the node refuses is the batch's error", async () => {
    upstream.handler = ({body}, response) => {
      const answers = JSON.parse(body).map(({id, params}: SentCall) => {
        const error = {code: -32000, message: `no ${params[0]}`};
        return params[0] !== 1 ? {jsonrpc: "2.0", id, result: 0} : {jsonrpc: "2.0", id, error};
      });
      response.end(JSON.stringify(answers.reverse()));
    };
    await assert.rejects(node.requestAll(callsOf(3)), error => {
      assert.ok(error instanceof NodeRefusal);
      assert.equal(error.code, -32000);
      assert.equal(error.message, `${upstream.url.origin} refuses eth_echo: no 1 (-32000)`);
      return true;
    });
    assert.deepEqual(batchSizes(), [3]);
  });

  test("a status other than 200 is a failure, with what Retry-After asks for", async () => {
    const table: [number, Record<string, string>, number | undefined][] = [
      [429, {"retry-after": "3"}, 3000],
      [503, {"retry-after": "Fri, 02 Jan 1970 00:00:00 GMT"}, 0],
      [503, {}, undefined],
      [307, {location: upstream.url.href}, undefined],
      [400, {}, undefined],
      [401, {}, undefined],
    ];
    for (const [status, headers, retryAfterMs] of table) {
      // The key lies where the text is cut.
      const said = `${"x".repeat(92)} no path-secret\n`;
      upstream.handler = (_request, response) => response.writeHead(status, headers).end(said);
      for (const answered of [node.request("eth_echo", [1]), node.requestAll(callsOf(2))]) {
        const failure = await failureOf(answered);
        assert.equal(failure.message, `it answered HTTP ${status}: ${"x".repeat(92)} no ***`);
        assert.equal(failure.retryAfterMs, retryAfterMs);
      }
    }
    for (const page of ["<html>secret</html>", '{"secret":1}', ""]) {
      upstream.handler = (_request, response) => response.writeHead(502).end(page);
      assert.equal((await failureOf(node.request("eth_echo", []))).message, "it answered HTTP 502");
    }
  });

  test("an error of JSON-RPC counts under any status, and one that asks to wait under those of rate limits and gateways", async () => {
    const text = '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"MESSAGE"}}';
    for (const status of [400, 402, 403, 413, 429, 500, 502, 503, 504]) {
      upstream.handler = answerText(text.replace("MESSAGE", "block range is too wide"), status);
      await assert.rejects(node.request("eth_getLogs", []), {name: "NodeRefusal", code: -32000});
      upstream.handler = ({call}, response) =>
        response.writeHead(status, {"retry-after": "3"}).end(text.replace("ID", String(call.id)));
      await assert.rejects(
        node.request("eth_getLogs", []),
        status === 429 || status > 500
          ? {name: "NodeFailure", retryAfterMs: 3000}
          : {name: "NodeRefusal", code: -32000},
      );
    }
    upstream.handler = answerText(text.replace("ID", "null"), 413);
    await assert.rejects(node.request("eth_getLogs", []), {name: "NodeRefusal", code: -32000});
  });

  test("what is no answer is a failure", async () => {
    const cut: UpstreamHandler = (_request, response) => {
      response.writeHead(200, {"content-length": "1000"}).write('{"jsonrpc"', () => response.destroy());
    };
    const table: [UpstreamHandler, RegExp][] = [
      [answerText("<html>secret"), /^its answer is not JSON-RPC 2\.0$/],
      [answerText('{"jsonrpc":"2.0","id":ID1,"result":1}'), /another request's id$/],
      [answerText("[".repeat(MAX_ANSWER_BYTES)), /too many arrays and objects for its length$/],
      [answerText("x".repeat(MAX_ANSWER_BYTES + 1)), /more than 10000 bytes$/],
      [cut, /^the connection was lost$/],
    ];
    for (const [handler, message] of table) {
      upstream.handler = handler;
      assert.match((await failureOf(node.request("eth_echo", [1]))).message, message);
    }
    await upstream.stop();
    assert.equal((await failureOf(node.request("eth_echo", [1]))).message, "connection refused");
    await upstream.start();
  });

  test("the time-out holds from the call to the last byte, and the node sees the connection end", async () => {
    const dripping: UpstreamHandler = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    };
    await use(upstream.url, 50);
    for (const handler of [() => {}, dripping]) {
      const responses: ServerResponse[] = [];
      upstream.handler = (request, response) => {
        responses.push(response);
        handler(request, response);
      };
      // On a busy machine the time may be over before the request is there.
      while (responses.length === 0)
        assert.equal((await failureOf(node.request("eth_echo", [1]))).message, "no answer within 50 ms");
      await waitUntil("the end of the connection", () => responses.every(({closed}) => closed));
    }
  });

  test("the time-out holds while connecting, and a name that does not resolve is said to be one", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    await use(new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`), 100);
    assert.match((await failureOf(node.request("a", []))).message, /^no (answer|connection) within 100 ms$/);
    silent.close();
    await use(new URL("http://upstream.invalid:8545/"));
    assert.equal((await failureOf(node.request("a", []))).message, "its name cannot be resolved");
  });
});
