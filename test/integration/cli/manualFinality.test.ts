/** `serve --finality manual`: admin_setFinalized on a port of its own. */
import assert from "node:assert/strict";
import {once} from "node:events";
import type {IncomingMessage} from "node:http";
import {request} from "node:http";
import {after, before, describe, test} from "node:test";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {createLines, WorkFolder} from "../../support/chains/serviceChain.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";

describe("the admin port", () => {
  let folder: WorkFolder;
  let daemon: Daemon;
  let adminUrl: string;

  before(async () => {
    folder = await WorkFolder.create();
    const db = folder.file("db");
    const input = encodeLines(createLines(0, 9));
    const {code, stderr} = await runProofd(["import", "--db", db, "--diffs", "-"], {input});
    assert.equal(code, 0, stderr);
    daemon = await startDaemon(["--db", db, "--finality", "manual", "--admin-port", "0"]);
    adminUrl = String(daemon.announcement.adminUrl);
  });

  after(async () => {
    await daemon.stop();
    await folder.remove();
  });

  async function post(body: string, type = "application/json"): Promise<{status: number; text: string}> {
    const response = await fetch(adminUrl, {method: "POST", headers: {"content-type": type}, body});
    return {status: response.status, text: await response.text()};
  }

  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
  async function call(method: string, params: unknown): Promise<any> {
    const {status, text} = await post(JSON.stringify({jsonrpc: "2.0", id: 7, method, params}));
    assert.equal(status, 200);
    return JSON.parse(text);
  }

  test("marks blocks, and lowers nothing", async () => {
    const marked = await call("admin_setFinalized", ["0x4"]);
    assert.deepEqual(marked, {jsonrpc: "2.0", id: 7, result: {before: null, finalized: "0x4"}});
    assert.deepEqual((await call("admin_setFinalized", ["0x2"])).result, {before: "0x4", finalized: "0x4"});
    assert.equal((await daemon.call("chain_getCoverage")).result.finalized, "0x4");
    const batch = [5, 6].map(id => ({
      jsonrpc: "2.0",
      id,
      method: "admin_setFinalized",
      params: [`0x${id}`],
    }));
    assert.deepEqual(JSON.parse((await post(JSON.stringify(batch))).text), [
      {jsonrpc: "2.0", id: 5, result: {before: "0x4", finalized: "0x5"}},
      {jsonrpc: "2.0", id: 6, result: {before: "0x5", finalized: "0x6"}},
    ]);
    assert.match(daemon.stderr, /"msg":"proofd finalize"/);
  });

  test("refuses blocks that are not held, other parameters and other methods by code", async () => {
    for (const [method, params, code] of [
      ["admin_setFinalized", ["0xa"], -32001],
      ["admin_setFinalized", [`0x${"f".repeat(40)}`], -32001],
      ["admin_setFinalized", [], -32602],
      ["admin_setFinalized", [5], -32602],
      ["admin_setFinalized", ["latest"], -32602],
      ["admin_setFinalized", ["0x1", "0x2"], -32602],
      ["admin_setFinalized", {block: "0x1"}, -32602],
      ["chain_getCoverage", [], -32601],
    ] as const)
      assert.equal((await call(method, params)).error.code, code, JSON.stringify(params));
    assert.equal(JSON.parse((await post("{")).text).error.code, -32700);
    assert.equal(JSON.parse((await post("[]")).text).error.code, -32600);
  });

  test("answers no web page: neither plain text, nor another Host, nor long bodies", async () => {
    const order = JSON.stringify({jsonrpc: "2.0", id: 1, method: "admin_setFinalized", params: ["0x9"]});
    assert.equal((await post(order, "text/plain")).status, 415);
    const page = {"content-type": "application/json", origin: "https://page.example"};
    assert.equal((await fetch(adminUrl, {method: "POST", headers: page, body: order})).status, 403);
    assert.equal((await post(`${order}${" ".repeat(5000)}`)).status, 413);
    assert.equal((await fetch(adminUrl)).status, 405);
    const {port} = new URL(adminUrl);
    const headers = {Host: `rebound.example:${port}`, "Content-Type": "application/json"};
    const sent = request({host: "127.0.0.1", port, method: "POST", headers, agent: false});
    sent.end(order);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 403);
    response.resume();
    assert.notEqual((await daemon.call("chain_getCoverage")).result.finalized, "0x9");
    assert.equal((await daemon.call("admin_setFinalized", ["0x9"])).error.code, -32601);
  });
});

test("flags of finality that are missing or have no effect are refused", async () => {
  const address = `0x${"ab".repeat(20)}`;
  for (const [flags, message] of [
    [["--finality", "l1"], /--finality l1 needs --l1/],
    [["--l1", "http://127.0.0.1:1"], /--l1 needs --rollup/],
    [["--finality", "tag"], /--finality tag needs --l2/],
    [["--finality", "manual"], /--finality manual needs --admin-port/],
    [["--rollup", address], /--rollup has no effect without --finality or --l1/],
    [["--admin-port", "0"], /--admin-port has no effect without/],
    [["--finality-poll", "500"], /--finality-poll has no effect without/],
    [
      ["--finality", "manual", "--admin-port", "0", "--l1-depth", "1"],
      /--l1-depth has no effect with --finality manual/,
    ],
    [["--l1", "http://127.0.0.1:1", "--rollup", "0x12"], /Expected an address/],
  ] as const) {
    const {code, stderr} = await runProofd(["serve", "--db", "/nonexistent/db", ...flags]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
});
