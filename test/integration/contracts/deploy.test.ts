/** contracts/deploy.js as its users run it, against anvil, or against what is no such node. docs/bridging.md has it pay a claim. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {readArtefact} from "../../support/contracts/readArtefact.ts";
import {type JsonRpcCall, JsonRpcServer} from "../../support/nodes/jsonRpcServer.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {type Finished, runChild} from "../../support/processes/childProcesses.ts";
import type {CommandEnd} from "../../support/processes/commandLines.ts";
import {runCommandLines} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";

const PROGRAM = import.meta.resolve("#package/contracts/deploy.js");
/** What it loads, for many runs in one process. */
const MAIN = import.meta.resolve("#package/contracts/dist/deploy/main.js");
/** Of anvil's first account. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const DEPLOYER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const PENNILESS = `0x${"11".repeat(32)}`;
const STRANGER = `0x${"24".repeat(20)}`;

let anvil: Anvil | string;
/** Estimates too little for any code. */
let thrifty: JsonRpcServer;
/** Has no precompiles. */
let bare: JsonRpcServer;
/** Of a server that is no more. */
let gone: string;

before(async () => {
  anvil = await Anvil.start([]);
  if (typeof anvil === "string") return;
  const node = anvil;
  thrifty = new JsonRpcServer(async ({id, method, params}: JsonRpcCall) => {
    if (method === "eth_estimateGas") return {jsonrpc: "2.0", id, result: "0xf000"};
    return {...(await node.ask(method, params)), jsonrpc: "2.0", id};
  });
  bare = new JsonRpcServer(({id}) => ({jsonrpc: "2.0", id, result: "0x"}));
  const ended = new JsonRpcServer(({id}) => ({jsonrpc: "2.0", id}));
  await Promise.all([thrifty.start(), bare.start(), ended.start()]);
  gone = ended.url;
  await ended.stop();
});

after(async () => {
  if (typeof anvil === "string") return;
  await Promise.all([thrifty.stop(), bare.stop(), anvil.stop()]);
});

function assertRefused(
  {code, stdout, stderr}: CommandEnd | Finished,
  expected: number,
  message: RegExp,
): void {
  assert.match(stderr, message);
  assert.deepEqual([code, stdout], [expected, ""], stderr);
}

test("a bridge is deployed as its flags say; what is missing, wrong or refused by the node is named", async t => {
  if (typeof anvil === "string") return notRun(t, anvil);
  const to = ["--url", anvil.url];
  const sent = () => (anvil as Anvil).request("eth_getTransactionCount", DEPLOYER, "latest");
  const bridge = ["bridge", ...to, "--source", DEPLOYER, "--suite"];
  const sha256 = ["--suite", "sha256"];
  const table: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
    [["verifier"], 2, /^error: expected one of bridge, claim, deposit, got "verifier"/],
    [[...bridge, "keccak"], 2, /^error: --suite: expected sha256 or poseidon2, got "keccak"/],
    [["deposit", "--url", "localhost:8545"], 1, /^error: --url: expected an http or https URL/],
    [
      ["bridge", ...to, ...sha256, "--rollup", STRANGER],
      1,
      /^error: --rollup: 0x24\w+ is not a contract on the/,
    ],
    [
      ["bridge", "--url", bare.url, ...sha256, "--source", DEPLOYER],
      1,
      /^error: --suite: http:\S+ has no SHA-256 at address 2/,
    ],
    [["deposit", "--url", gone], 1, /^error: Deposit: --url: no answer from http:.*ECONNREFUSED/],
  ];
  const before = await sent();
  const lines = table.map(([args]) => [MAIN, ...args]);
  for (const [i, end] of (await runCommandLines(lines, {env: {DEPLOY_KEY: KEY}})).entries()) {
    const [, code, message] = table[i] as (typeof table)[number];
    assertRefused(end, code, message);
  }
  for (const [key, code, message] of [
    [undefined, 2, /^error: the variable DEPLOY_KEY is missing/],
    ["0x12", 1, /^error: DEPLOY_KEY: expected the account's private key/],
    [PENNILESS, 1, /^error: Deposit: http:\S+ refuses eth_sendRawTransaction: insufficient funds/i],
  ] as const) {
    const env = key === undefined ? {} : {DEPLOY_KEY: key};
    assertRefused(
      await runChild(process.execPath, [fileURLToPath(PROGRAM), "deposit", ...to], {env}),
      code,
      message,
    );
  }
  assert.equal(await sent(), before, "nothing was sent");

  const [deployed, failed] = (await runCommandLines(
    [
      [MAIN, ...bridge, "poseidon2"],
      [MAIN, "deposit", "--url", thrifty.url],
    ],
    {env: {DEPLOY_KEY: KEY}},
  )) as [CommandEnd, CommandEnd];
  assertRefused(failed, 1, /^error: Deposit: transaction 0x\w{64} failed in block \d+$/m);
  assert.equal(deployed.code, 0, deployed.stderr);
  const {verifier, oracle, ...others} = JSON.parse(deployed.stdout);
  assert.deepEqual(others, {});
  assert.match(deployed.stderr, new RegExp(`^StateRootOracle is at ${oracle}, by transaction 0x`, "m"));
  const code = await anvil.request<string>("eth_getCode", verifier, "latest");
  assert.equal(code.length, readArtefact("Poseidon2ProofVerifier").deployedBytecode.length);
  const source = await new DeployedContract(anvil, readArtefact("StateRootOracle"), oracle).read("source");
  assert.equal(String(source).toLowerCase(), DEPLOYER);
});
