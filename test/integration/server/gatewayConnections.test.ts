/** The gateway's connections to a real upstream: time-outs, credentials, the end. */
import assert from "node:assert/strict";
import type {ServerResponse} from "node:http";
import {type AddressInfo, createServer} from "node:net";
import {afterEach, beforeEach, describe, test} from "node:test";
import {pino} from "pino";
import {Gateway} from "../../../server/gateway/gateway.ts";
import {answerText, Upstream, type UpstreamHandler} from "../../support/http/upstream.ts";
import {once, waitUntil} from "../../support/wait.ts";

/** Where it must not be over, on any machine. */
const TIMEOUT_MS = 3_600_000;
const RESULT = '{"jsonrpc":"2.0","id":ID,"result":"0x5208"}';

/** Sends an estimate of an empty call. */
function forward(gateway: Gateway, idText: string): ReturnType<Gateway["forward"]> {
  return gateway.forward("chain_estimateGas", "[{}]", idText);
}

describe("Gateway", () => {
  let upstream: Upstream;
  let logged: string[];

  beforeEach(async () => {
    logged = [];
    upstream = new Upstream();
    await upstream.start();
  });

  afterEach(() => upstream.stop());

  function createGateway(url: URL, timeoutMs: number): Gateway {
    return new Gateway(url, pino({level: "debug"}, {write: line => logged.push(line)}), timeoutMs);
  }

  async function withGateway(
    url: URL,
    timeoutMs: number,
    use: (gateway: Gateway) => Promise<void>,
  ): Promise<void> {
    const gateway = createGateway(url, timeoutMs);
    try {
      await use(gateway);
    } finally {
      await gateway.close();
    }
  }

  test("the time-out holds from the call to the last byte, and the upstream sees the connection end", async () => {
    const timeoutMs = 100;
    const silent: UpstreamHandler = () => {};
    const dripping: UpstreamHandler = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    };
    await withGateway(upstream.url, timeoutMs, async gateway => {
      for (const handler of [silent, dripping]) {
        let response: ServerResponse | null = null;
        upstream.handler = (request, one) => {
          response = one;
          handler(request, one);
        };
        let answers = await forward(gateway, "1");
        // On a busy machine the time may be over before the request is there.
        while (response === null) answers = await forward(gateway, "1");
        const {failures, text} = answers;
        assert.equal(text.length, 0);
        const [failure] = failures;
        assert.equal(failure?.failure, "UPSTREAM_DOWN");
        assert.match(failure.detail, /: no answer within 100 ms$/);
        if (!(response as unknown as ServerResponse).closed)
          await once(response as unknown as ServerResponse, "close");
      }
      upstream.handler = answerText(RESULT);
      // On a busy machine an answer may come too late as well.
      let answer = "";
      while (answer === "") answer = Buffer.from((await forward(gateway, '"x"')).text).toString();
      assert.equal(answer, '{"jsonrpc":"2.0","id":"x","result":"0x5208"},');
    });
  });

  test("the time-out holds while connecting", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const url = new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    await withGateway(url, 100, async gateway => {
      const {failures} = await forward(gateway, "1");
      assert.match(failures[0]?.detail ?? "", /: no (answer|connection) within 100 ms$/);
    });
    silent.close();
  });

  test("the URL's user and password are sent, and named nowhere", async () => {
    const url = new URL(upstream.url);
    url.username = "us er";
    url.password = "pass:wörd";
    await withGateway(url, TIMEOUT_MS, async gateway => {
      assert.deepEqual((await forward(gateway, "1")).failures, []);
      const {authorization} = upstream.requests[0]?.head.headers ?? {};
      assert.equal(authorization, `Basic ${Buffer.from("us er:pass:wörd").toString("base64")}`);
      await upstream.stop();
      const {failures} = await forward(gateway, "1");
      assert.equal(failures.length, 1);
      await upstream.start();
      const secrets = ["us er", "pass:wörd", "w%C3%B6rd", "path-secret", String(authorization).slice(6)];
      for (const secret of secrets) {
        assert.ok(!logged.join("").includes(secret), secret);
        assert.ok(!String(failures[0]?.detail).includes(secret), secret);
      }
    });
  });

  test("a name that does not resolve is said to be one", async () => {
    await withGateway(new URL("http://upstream.invalid:8545/"), TIMEOUT_MS, async gateway => {
      const {failures} = await forward(gateway, "1");
      assert.match(failures[0]?.detail ?? "", /its name cannot be resolved$/);
    });
  });

  test("closing ends calls under way, and is no outage", async () => {
    upstream.handler = () => {};
    const gateway = createGateway(upstream.url, TIMEOUT_MS);
    const calls = [forward(gateway, "1"), forward(gateway, "2")];
    await waitUntil("two requests", () => upstream.requests.length === 2);
    await gateway.close();
    for (const {failures} of await Promise.all(calls)) assert.equal(failures[0]?.failure, "UPSTREAM_DOWN");
    assert.deepEqual(logged, []);
  });
});
