/** Calls that another node answers: real sockets to it and from the caller, real proofs beside them. */
import assert from "node:assert/strict";
import {request} from "node:http";
import {after, afterEach, before, beforeEach, describe, test} from "node:test";
import {type Logger, pino} from "pino";
import {createFront, type Front} from "../../../server/front.ts";
import {Gateway} from "../../../server/gateway/gateway.ts";
import {DEFAULT_LIMITS} from "../../../server/limits.ts";
import {TroubleLog} from "../../../server/observe/troubleLog.ts";
import {Engine} from "../../../workers/engine.ts";
import {ACCOUNTS, WorkFolder} from "../../support/chains/serviceChain.ts";
import {testedHttp} from "../../support/http/testedHttp.ts";
import {answerText, Upstream, type UpstreamHandler} from "../../support/http/upstream.ts";
import {once, waitUntil} from "../../support/wait.ts";

const RESULT = '{"jsonrpc":"2.0","id":ID,"result":"0x5208"}';

function estimateCall(id: unknown, params: unknown = [{to: ACCOUNTS[0]}, "latest"]) {
  return {jsonrpc: "2.0", id, method: "chain_estimateGas", params};
}

function proofCall(id: unknown) {
  return {jsonrpc: "2.0", id, method: "chain_getProof", params: [ACCOUNTS[0], ["0x1"], "latest"]};
}

const CALL = {method: "eth_gasPrice", paramsText: "[]", maxAnswerBytes: 1000, isRead: true};

function createLog(lines: string[]): Logger {
  return pino({level: "debug"}, {write: line => lines.push(line)});
}

describe("calls through a gateway", () => {
  const folder = new WorkFolder();
  let engine: Engine;
  let upstream: Upstream;
  let gateway: Gateway;
  let front: Front;
  let url: string;
  let logged: string[];

  before(async () => {
    const directory = await folder.importChain("db", 2, 1);
    engine = await Engine.open({directory, workers: 1, cacheBytes: 1 << 22, createIfMissing: false});
  });

  after(() => engine.close());

  beforeEach(async () => {
    logged = [];
    upstream = new Upstream();
    await upstream.start();
    const log = createLog(logged);
    gateway = new Gateway(upstream.url, log);
    await listen();
  });

  afterEach(async () => {
    front.http.close();
    front.dispatcher.close();
    await gateway.close();
    await upstream.stop();
  });

  async function listen(gatewayMethods: readonly string[] = [], isBalanced = false): Promise<void> {
    const limits = DEFAULT_LIMITS;
    const options = {
      host: "127.0.0.1",
      port: 0,
      http: testedHttp(),
      limits,
      namespace: "linea",
      gatewayMethods,
      isBalanced,
    };
    const log = createLog(logged);
    front = createFront(options, engine, {kind: "none"}, new TroubleLog(log), log, {gateway});
    url = `http://127.0.0.1:${await front.http.listen()}`;
  }

  async function post(body: string): Promise<{status: number; text: string}> {
    const headers = {"content-type": "application/json"};
    const response = await fetch(url, {method: "POST", headers, body});
    return {status: response.status, text: await response.text()};
  }

  /** As another client. @returns the first result or error */
  async function postFrom(localAddress: string, call: object) {
    const headers = {"content-type": "application/json"};
    const asked = request(url, {method: "POST", headers, localAddress}).end(JSON.stringify(call));
    const [response] = await once(asked, "response");
    return JSON.parse(Buffer.concat(await response.toArray()).toString());
  }

  /** What an operator is told, each line by its level and what it says. */
  function told(): [level: number, text: string][] {
    return logged
      .map(line => JSON.parse(line))
      .filter(({level}) => level >= 30)
      .map(({level, reason, msg}) => [level, reason ?? msg]);
  }

  async function send(body: unknown) {
    return JSON.parse((await post(JSON.stringify(body))).text);
  }

  async function readMetric(name: string): Promise<number> {
    const line = (await front.metrics.read()).text.split("\n").find(one => one.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  }

  test("a call's parameters go to the upstream's path under an id of our own", async () => {
    const params = [{to: ACCOUNTS[0], value: "1", data: "0x", gas: 21000}, {blockHash: "0x12"}, {"0xab": {}}];
    assert.deepEqual(await send(estimateCall("mine", params)), {
      jsonrpc: "2.0",
      id: "mine",
      result: "0x5208",
    });
    assert.deepEqual(await send(estimateCall("mine", [])), {jsonrpc: "2.0", id: "mine", result: "0x5208"});
    const [first, second] = upstream.requests;
    assert.equal(first?.head.method, "POST");
    assert.equal(first.head.url, "/rpc?key=path-secret");
    assert.equal(first.head.headers["content-type"], "application/json");
    assert.equal(first.head.headers.authorization, undefined);
    const {id, ...call} = first.call;
    assert.deepEqual(call, {jsonrpc: "2.0", method: "chain_estimateGas", params});
    assert.equal(typeof id, "number");
    assert.notEqual(second?.call.id, id);
  });

  test("a call under the name of a namespace is forwarded under that name", async () => {
    assert.equal((await send({...estimateCall(1, [{}]), method: "linea_estimateGas"})).result, "0x5208");
    assert.equal(upstream.requests[0]?.call.method, "linea_estimateGas");
  });

  test("a result comes back byte by byte as the upstream wrote it", async () => {
    const result = '{"a":1.50, "b":[9007199254740993,1e400,"\\u00e9\u00e9\\ud800",{"id":7}],"a":{} }';
    upstream.handler = answerText(`{ "result":${result},"error":null, "id":ID ,"jsonrpc":"2.0"}`);
    const {text} = await post(JSON.stringify([estimateCall(1), proofCall(2)]));
    assert.ok(text.startsWith(`[{"jsonrpc":"2.0","id":1,"result":${result}},{"jsonrpc":"2.0","id":2,`), text);
  });

  test("a batch of proofs and estimates is answered in its order, though the upstream answers in another", async () => {
    const waiting: (() => void)[] = [];
    upstream.handler = (request, response) => {
      waiting.push(() => answerText('{"jsonrpc":"2.0","id":ID,"result":ID}')(request, response));
      if (waiting.length % 10 === 0) for (const answer of waiting.splice(0).reverse()) answer();
    };
    const batch = Array.from({length: 40}, (_, id) => (id % 2 === 0 ? estimateCall(id) : proofCall(id)));
    const answers = await send([...batch, {jsonrpc: "2.0", id: 40, method: "chain_chainId"}]);
    assert.deepEqual(
      answers.map((answer: {id: number}) => answer.id),
      Array.from({length: 41}, (_, id) => id),
    );
    const results = new Set<number>();
    for (const {id, result} of answers.slice(0, 40)) {
      if (id % 2 === 0) results.add(result);
      else assert.equal(result.accountProof.key, ACCOUNTS[0]);
    }
    assert.equal(results.size, 20);
    assert.equal(await readMetric('proofd_calls_total{method="chain_estimateGas",code="0"}'), 20);
    assert.equal(await readMetric('proofd_calls_total{method="chain_getProof",code="0"}'), 20);
    assert.equal(await readMetric('proofd_queued_cost{lane="estimate"}'), 0);
  });

  test("an error comes back as it came, and is counted under its code where that is one of ours", async () => {
    const errors: [string, number][] = [
      ['{"code":3,"message":"execution reverted: no","data":"0x08c379a0"}', 3],
      ['{"code":-32602,"message":"A bad","data":{"n":1}}', -32602],
      ['{"code":-39999,"message":"odd"}', -32000],
      ['{"code":-32000,"message":""}', -32000],
    ];
    for (const [error, code] of errors) {
      const metric = `proofd_calls_total{method="chain_estimateGas",code="${code}"}`;
      const before = await readMetric(metric);
      upstream.handler = answerText(`{"jsonrpc":"2.0","id":ID,"error":${error}}`);
      const {status, text} = await post(JSON.stringify([proofCall(1), estimateCall(2)]));
      assert.equal(status, 200);
      assert.ok(text.endsWith(`,{"jsonrpc":"2.0","id":2,"error":${error}}]`), text);
      assert.equal(await readMetric(metric), before + 1);
    }
    assert.deepEqual(told(), []);
  });

  test("an error that repeats the keys of the URL comes back without them", async () => {
    await gateway.close();
    const keyed = new URL("v1/secret-path-key?apikey=secret-query-key", upstream.url);
    keyed.username = "code";
    keyed.password = "secret-password";
    gateway = new Gateway(keyed, createLog(logged));
    front.http.close();
    front.dispatcher.close();
    await listen();
    const said = "secret-path-key, secret-query-key, secret-password, code, eth_code, codes";
    upstream.handler = answerText(
      `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"${said}","data":{"url":"${said}","${said}":[{"${said}":1}]}}}`,
    );
    const {error} = await send(estimateCall(1));
    const redacted = "***, ***, ***, ***, eth_code, codes";
    const data = {url: redacted, [redacted]: [{[redacted]: 1}]};
    assert.deepEqual(error, {code: -32000, message: redacted, data});
  });

  test("numbers that JSON.parse may have changed are refused, parameters by name too, and nothing is sent", async () => {
    const table: [string, RegExp][] = [
      [
        '[{"gas":9007199254740993}]',
        /^params\[0\]\.gas: expected a string, or a whole JSON number .*, got 9007199254740992$/,
      ],
      ['[{"value":1e400}]', /^params\[0\]\.value: expected .*, got Infinity$/],
      ['[{},"latest",{"a":[{"b c":0.5}]}]', /^params\[2\]\.a\[0\]\.\?: expected .*, got 0\.5$/],
      ["[-1e16]", /^params\[0\]: expected .*, got -10000000000000000$/],
      ['{"call":{}}', /^params: expected an array, got an object$/],
    ];
    for (const [params, message] of table) {
      const {text} = await post(`{"jsonrpc":"2.0","id":7,"method":"chain_estimateGas","params":${params}}`);
      const {id, error} = JSON.parse(text);
      assert.deepEqual([id, error.code], [7, -32602]);
      assert.match(error.message, message);
    }
    assert.equal(upstream.requests.length, 0);
    const safe = [{gas: Number.MAX_SAFE_INTEGER, nonce: 0, value: -1}];
    assert.equal((await send(estimateCall(1, safe))).result, "0x5208");
    assert.deepEqual(upstream.requests[0]?.call.params, safe);
  });

  test("one connection serves calls that follow one another, and a burst opens no more than its bound", async () => {
    for (let id = 0; id < 30; id++) await send(estimateCall(id));
    assert.equal(upstream.socketCount, 1);
    let open = 0;
    let most = 0;
    upstream.handler = (request, response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        answerText(RESULT)(request, response);
      });
    };
    const answers = await send(Array.from({length: 400}, (_, id) => estimateCall(id)));
    assert.ok(answers.every((answer: {result: string}) => answer.result === "0x5208"));
    assert.ok(most > 1 && most <= gateway.maxCalls, `${most} at once`);
    assert.ok(upstream.socketCount <= gateway.maxCalls, `${upstream.socketCount} connections`);
  });

  test("an upstream that is down is -32002 until it is back, with one line in the log for each", async () => {
    await upstream.stop();
    const answers = await send(
      Array.from({length: 20}, (_, id) => estimateCall(id)).toSpliced(3, 0, proofCall("p")),
    );
    for (const {id, error, result} of answers) {
      if (id === "p") assert.notEqual(result, undefined);
      else {
        assert.deepEqual(error, {
          code: -32002,
          message: "the gateway that answers chain_estimateGas for this node is down: connection refused",
        });
      }
    }
    assert.equal(await readMetric('proofd_calls_total{method="chain_estimateGas",code="-32002"}'), 20);
    await upstream.start();
    for (let id = 0; id < 3; id++) assert.equal((await send(estimateCall(id))).result, "0x5208");
    assert.deepEqual(told(), [
      [40, "connection refused"],
      [30, "the gateway answers again"],
    ]);
  });

  test("whatever is no JSON-RPC answer is -32002 and says why", async () => {
    const redirect: UpstreamHandler = (_request, response) => {
      response.writeHead(307, {location: upstream.url.href}).end();
    };
    const cut: UpstreamHandler = (_request, response) => {
      response.writeHead(200, {"content-length": "1000"}).write('{"jsonrpc"', () => response.destroy());
    };
    const table: [UpstreamHandler, RegExp][] = [
      [answerText(RESULT, 500), /it answered HTTP 500$/],
      [answerText("", 204), /it answered HTTP 204$/],
      [answerText("<html>", 404), /it answered HTTP 404$/],
      [redirect, /it answered HTTP 307$/],
      [answerText("<html>secret</html>"), /its answer is not JSON-RPC 2\.0$/],
      [answerText(""), /its answer is not JSON-RPC 2\.0$/],
      [answerText(`[${RESULT}]`), /its answer is not JSON-RPC 2\.0$/],
      [answerText('{"id":ID,"result":1}'), /its answer is not JSON-RPC 2\.0$/],
      [answerText('{"jsonrpc":"2.0","id":"ID","result":1}'), /another request's id$/],
      [answerText('{"jsonrpc":"2.0","id":ID1,"result":1}'), /another request's id$/],
      [answerText('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}'), /another request's id$/],
      [
        answerText('{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"","data":9007199254740993}}'),
        /a number that is no safe integer/,
      ],
      [answerText('{"jsonrpc":"2.0","id":ID,"result":1]'), /its answer is not JSON-RPC 2\.0$/],
      [answerText('{"jsonrpc":"2.0","id":ID,"result":[1,]}'), /its answer is not JSON-RPC 2\.0$/],
      [answerText('{"jsonrpc":"2.0","result":1}'), /another request's id$/],
      [answerText('{"jsonrpc":"2.0","id":ID}'), /neither result nor error$/],
      [answerText('{"jsonrpc":"2.0","id":ID,"error":"no"}'), /not one of JSON-RPC 2\.0$/],
      [
        answerText('{"jsonrpc":"2.0","id":ID,"error":{"code":"1","message":""}}'),
        /not one of JSON-RPC 2\.0$/,
      ],
      [
        answerText('{"jsonrpc":"2.0","id":ID,"error":{"code":1.5,"message":""}}'),
        /not one of JSON-RPC 2\.0$/,
      ],
      [(_request, response) => response.socket?.destroy(), /the connection was lost$/],
      [cut, /the connection was lost$/],
      [(_request, response) => response.socket?.end("nonsense\r\n\r\n"), /the request failed \(HPE_/],
    ];
    for (const [handler, message] of table) {
      upstream.handler = handler;
      const before = upstream.requests.length;
      const {id, error} = await send(estimateCall("x"));
      assert.deepEqual([id, error.code, error.data], ["x", -32002, undefined]);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret|127\.0\.0\.1/);
      assert.ok(upstream.requests.length - before <= 2);
      upstream.handler = answerText(RESULT);
      assert.equal((await send(estimateCall(1))).result, "0x5208");
    }
    assert.doesNotMatch(logged.join(""), /secret/);
  });

  test("a result as long as it may be comes through, and a longer one is -32005 and no outage", async () => {
    for (const [method, params, limit] of [
      ["eth_gasPrice", [], 263_168],
      ["eth_getTransactionReceipt", ["0x1"], 2_000_000],
      ["eth_getBlockByNumber", ["0x1", false], 2_000_000],
      ["eth_getBlockByNumber", ["0x1", true], 10_000_000],
    ] as const) {
      const call = {jsonrpc: "2.0", id: 1, method, params};
      const result = "x".repeat(limit - 100);
      upstream.handler = answerText(`{"jsonrpc":"2.0","id":ID,"result":"${result}"}`);
      assert.equal((await send([call, proofCall(2)]))[0].result, result);
      upstream.handler = answerText(`{"jsonrpc":"2.0","id":ID,"result":"${"x".repeat(limit)}"}`);
      assert.deepEqual((await send(call)).error, {
        code: -32005,
        message: `the answer to ${method}: expected at most ${limit} bytes, got more`,
        data: {limit, got: limit + 1},
      });
    }
    assert.deepEqual(told(), []);
    const long = `{"code":1,"message":"${"x".repeat(300_000)}"}`;
    for (const [member, answer] of [
      ["error", `{"jsonrpc":"2.0","id":ID,"error":${long}}`],
      ["id", `{"jsonrpc":"2.0","id":${long},"result":1}`],
      ["jsonrpc", `{"jsonrpc":${long},"id":ID,"result":1}`],
    ] as const) {
      upstream.handler = answerText(answer);
      const {error} = await send({jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [{}]});
      assert.equal(error.code, -32002);
      assert.ok(error.message.endsWith(`the ${member} in its answer has more than 263168 bytes`));
    }
  });

  test("the node is asked for the newest block and what proofd does not have, proofd for the states that it has", async t => {
    upstream.handler = answerText('{"jsonrpc":"2.0","id":ID,"result":"the node"}');
    const account = ACCOUNTS[0];
    const unknown = `0x${"ab".repeat(32)}`;
    const {hash} = (await send({jsonrpc: "2.0", id: 1, method: "chain_getStateRoot", params: ["0x1"]}))
      .result;
    const forwarded: [string, unknown[]][] = [
      ["eth_blockNumber", []],
      ["eth_gasPrice", []],
      ["eth_syncing", []],
      ["eth_getLogs", [{fromBlock: "finalized"}]],
      ["eth_getTransactionReceipt", [unknown]],
      ["eth_getBlockByNumber", ["latest", false]],
      ["eth_getBlockByNumber", ["0x1", true]],
      ["eth_getBlockByHash", [hash, false]],
      ["eth_call", [{to: account}, "0x1"]], // without threads for calls
      ["chain_estimateGas", [{to: account}]],
      ...["latest", "pending", "0x2", "0x99", unknown, {blockNumber: "latest"}].map(
        (block): [string, unknown[]] => ["eth_getBalance", [account, block]],
      ),
      ["eth_getStorageAt", [account, "0x0"]],
      ["eth_getTransactionCount", [account, null]],
    ];
    for (const [method, params] of forwarded) {
      upstream.requests.length = 0;
      assert.equal((await send({jsonrpc: "2.0", id: 1, method, params})).result, "the node", method);
      const [{call} = assert.fail()] = upstream.requests;
      assert.deepEqual([call.method, call.params], [method, params]);
    }
    upstream.requests.length = 0;
    await send({jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["finalized", true]});
    assert.deepEqual(upstream.requests[0]?.call.params, ["0x1", true]);
    await send({jsonrpc: "2.0", id: 1, method: "eth_call", params: [{to: account}, "safe", {}]});
    assert.deepEqual(upstream.requests[1]?.call.params, [{to: account}, "0x1", {}]);
    upstream.requests.length = 0;
    const own: [string, unknown[]][] = [
      ...["0x1", "finalized", "safe", hash, {blockHash: hash}].map((block): [string, unknown[]] => [
        "eth_getBalance",
        [account, block],
      ]),
      ["eth_getStorageAt", [account, "0x0", "0x1"]],
      ["eth_getCode", [account, "0x0"]],
      ["eth_getProof", [account, [], "latest"]],
      ["chain_getProof", [account, [], "latest"]],
      ["eth_getBalance", ["0x1", "0x1"]],
      ["eth_getBalance", [account, "new"]],
      ["eth_chainId", []],
      ["rpc.discover", []],
      ["eth_sendRawTransaction", ["0x00"]],
      ["debug_traceBlockByNumber", ["0x1"]],
    ];
    const looked = t.mock.method(engine.chain, "hasAccount");
    await send({jsonrpc: "2.0", id: 1, method: "eth_getBalance", params: [account, "0x1"]});
    assert.equal(looked.mock.callCount(), 1, "it is decided once who answers a call");
    const answers = [];
    for (const [method, params] of own) {
      const answer = await send({jsonrpc: "2.0", id: 1, method, params});
      assert.notEqual(answer.result, "the node", method);
      answers.push(answer);
    }
    assert.deepEqual(
      answers.map(({error}) => error?.code).filter(code => code !== undefined),
      [-32004, -32602, -32602, -32601, -32601],
    );
    assert.equal(upstream.requests.length, 0);
  });

  test("a named method is sent once, even if the connection is lost, and a read twice", async () => {
    front.http.close();
    front.dispatcher.close();
    await listen(["eth_sendRawTransaction"]);
    upstream.handler = ({head}) => head.socket.destroy();
    const lost = await send({jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params: ["0x02"]});
    const message =
      "the gateway that answers eth_sendRawTransaction for this node is down: the connection was lost. It may have received the call";
    assert.deepEqual(lost.error, {code: -32002, message});
    assert.equal(upstream.requests.length, 1);
    await send({jsonrpc: "2.0", id: 1, method: "eth_getTransactionByHash", params: ["0x02"]});
    assert.equal(upstream.requests.length, 3);
    assert.equal(await readMetric('proofd_calls_total{method="eth_sendRawTransaction",code="-32002"}'), 1);
  });

  test("a balanced service forwards reads at a block that it lacks, and sends nothing of a request that it turns away", async () => {
    front.http.close();
    front.dispatcher.close();
    await listen(["eth_sendRawTransaction"], true);
    const call = (method: string, ...params: unknown[]) => ({jsonrpc: "2.0", id: 1, method, params});
    const sending = call("eth_sendRawTransaction", "0x02");
    for (const block of ["0x2", "0x99"]) {
      const balance = call("eth_getBalance", ACCOUNTS[0], block);
      assert.equal((await send(balance)).result, "0x5208");
      const sent = upstream.requests.length;
      const {status} = await post(
        JSON.stringify([sending, balance, call("eth_getProof", ACCOUNTS[0], [], block)]),
      );
      assert.deepEqual([status, upstream.requests.length], [503, sent]);
    }
    assert.equal((await send([sending, call("eth_getProof", ACCOUNTS[0], [], "0x1")]))[0].result, "0x5208");
    await upstream.stop();
    const {status, text} = await post(JSON.stringify(sending));
    await upstream.start();
    assert.deepEqual([status, JSON.parse(text).error.code], [200, -32002]);
  });

  test("calls that hang delay neither proofs nor another client, and a client has no more than a quarter of the connections", async () => {
    const held: (() => void)[] = [];
    upstream.handler = (request, response) => {
      if (request.call.method === "eth_gasPrice") answerText(RESULT)(request, response);
      else held.push(() => answerText(RESULT)(request, response));
    };
    const calls = Array.from({length: 20}, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "eth_getTransactionByHash",
      params: ["0x1"],
    }));
    const hanging = [send(calls), send([...calls, proofCall("p")])];
    await waitUntil("calls that hang", () => held.length === gateway.maxCalls / 4);
    const price = {jsonrpc: "2.0", id: 1, method: "eth_gasPrice"};
    for (let id = 0; id < 20; id++) assert.equal((await send(proofCall(id))).error, undefined);
    assert.equal((await postFrom("127.0.0.2", price)).result, "0x5208");
    assert.equal(held.length, gateway.maxCalls / 4);
    assert.equal(await readMetric('proofd_queued_cost{lane="gateway"}'), 40 * 20);
    upstream.handler = answerText(RESULT);
    for (const release of held) release();
    const [first, second] = await Promise.all(hanging);
    assert.deepEqual(
      first.map(({id}: {id: unknown}) => id),
      calls.map(({id}) => id),
    );
    assert.deepEqual(
      second.map(({id}: {id: unknown}) => id),
      [...calls.map(({id}) => id), "p"],
    );
    assert.equal(await readMetric('proofd_queued_cost{lane="gateway"}'), 0);
  });

  test("the calls of 20 clients that all hang leave room for one more client", async () => {
    const held = new Map<unknown, (() => void)[]>();
    upstream.handler = (request, response) => {
      const {method, params} = request.call;
      if (method === "eth_gasPrice") answerText(RESULT)(request, response);
      else {
        const releases = held.get(params[0]) ?? [];
        held.set(params[0], [...releases, () => answerText(RESULT)(request, response)]);
      }
    };
    const hanging: Promise<unknown[]>[] = [];
    for (let client = 1; client <= 20; client++) {
      const address = `127.0.1.${client}`;
      const call = {jsonrpc: "2.0", id: 1, method: "eth_getTransactionByHash", params: [address]};
      hanging.push(postFrom(address, Array(40).fill(call)));
      await waitUntil(`a call of client ${client} that hangs`, () => held.has(address));
    }
    const price = {jsonrpc: "2.0", id: 1, method: "eth_gasPrice"};
    for (let id = 0; id < 20; id++) assert.equal((await postFrom("127.0.0.2", price)).result, "0x5208");
    assert.equal(await readMetric('proofd_queued_cost{lane="gateway"}'), 20 * 40 * 20);
    upstream.handler = answerText(RESULT);
    for (const releases of held.values()) for (const release of releases) release();
    for (const answers of await Promise.all(hanging)) assert.equal(answers.length, 40);
  });

  test("long parameters, which wait in memory, cost more in the queue", async () => {
    const held: (() => void)[] = [];
    upstream.handler = (request, response) => held.push(() => answerText(RESULT)(request, response));
    const params = ["x".repeat(10 * 4096)];
    const answers = send(Array(20).fill({jsonrpc: "2.0", id: 1, method: "eth_getTransactionByHash", params}));
    await waitUntil("calls that hang", () => held.length === gateway.maxCalls / 4);
    const queued = await readMetric('proofd_queued_cost{lane="gateway"}');
    upstream.handler = answerText(RESULT);
    for (const release of held) release();
    assert.equal((await answers).length, 20);
    assert.equal(queued, 20 * (20 + 10));
  });

  test("parameters that are too long are refused, and so is a batch whose answers could be", async () => {
    const data = `0x${"ab".repeat(300_000)}`;
    const {error} = await send({jsonrpc: "2.0", id: 1, method: "eth_estimateGas", params: [{data}]});
    assert.deepEqual([error.code, error.data.limit], [-32005, 524_288]);
    const logs = {jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [{}]};
    assert.match(
      (await send(Array(27).fill(logs))).error.message,
      /^a response: expected at most 268435456 bytes/,
    );
    assert.equal(upstream.requests.length, 0);
    assert.equal((await send(Array(26).fill(logs))).length, 26);
  });

  test("a connection that the upstream closes while it is used again is no failure", async () => {
    const used = new Set<unknown>();
    upstream.handler = (request, response) => {
      if (used.has(request.head.socket)) request.head.socket.destroy();
      else answerText(RESULT)(request, response);
      used.add(request.head.socket);
    };
    for (let id = 0; id < 5; id++) assert.equal((await send(estimateCall(id))).result, "0x5208");
    assert.equal(upstream.socketCount, 5);
    assert.deepEqual(told(), []);
  });

  test("closing ends calls under way, and is no outage", async () => {
    upstream.handler = () => {};
    const calls = ["1", "2"].map(id => gateway.forward(CALL, id));
    await waitUntil("two requests", () => upstream.requests.length === 2);
    await gateway.close();
    for (const {failures} of await Promise.all(calls)) assert.equal(failures[0]?.failure, "UPSTREAM_DOWN");
    assert.deepEqual(told(), []);
  });
});
