/** contracts/deploy.js, as its users run it: a process against anvil, or against what is no such node. */
import assert from "node:assert/strict";
import {after, before, type TestContext, test} from "node:test";
import {fileURLToPath} from "node:url";
import {readArtefact} from "../../../contracts/artefacts.ts";
import {DeployedContract} from "../../support/contracts/deployedContract.ts";
import {type JsonRpcCall, JsonRpcServer} from "../../support/nodes/jsonRpcServer.ts";
import {Anvil} from "../../support/processes/anvil.ts";
import {type Finished, runChild} from "../../support/processes/childProcesses.ts";
import {notRun} from "../../support/processes/notRun.ts";

const PROGRAM = fileURLToPath(import.meta.resolve("#package/contracts/deploy.js"));
/** Of anvil's first account. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const DEPLOYER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const PENNILESS = `0x${"11".repeat(32)}`;
const LAYER_2_CONTRACT = `0x${"24".repeat(20)}`;

let anvil: Anvil | string;

before(async () => {
  anvil = await Anvil.start([]);
});

after(async () => {
  if (typeof anvil !== "string") await anvil.stop();
});

/** @returns undefined after marking the test as skipped, if there is no anvil */
function chain(t: TestContext): Anvil | undefined {
  if (typeof anvil !== "string") return anvil;
  notRun(t, anvil);
  return undefined;
}

function deploy(args: readonly string[], key: string | undefined = KEY): Promise<Finished> {
  return runChild(process.execPath, [PROGRAM, ...args], {env: key === "" ? {} : {DEPLOY_KEY: key}});
}

async function refuse(code: number, message: RegExp, args: readonly string[], key?: string): Promise<void> {
  const refused = await deploy(args, key);
  assert.deepEqual([refused.code, refused.stdout], [code, ""], refused.stderr);
  assert.match(refused.stderr, message);
}

/** An account's code has the contract's length: values of immutables are in it. */
async function assertCode(node: Anvil, address: string, name: string): Promise<void> {
  const code = await node.request<string>("eth_getCode", address, "latest");
  const {deployedBytecode} = readArtefact(name);
  assert.equal(code.length, deployedBytecode.length, name);
}

test("a bridge and a claim are deployed as their flags say, and their addresses are printed as JSON", async t => {
  const node = chain(t);
  if (node === undefined) return;
  const bridge = await deploy(["bridge", "--url", node.url, "--suite", "poseidon2", "--source", DEPLOYER]);
  assert.equal(bridge.code, 0, bridge.stderr);
  const {verifier, oracle, ...others} = JSON.parse(bridge.stdout);
  assert.deepEqual(others, {});
  await assertCode(node, verifier, "Poseidon2ProofVerifier");
  await assertCode(node, oracle, "StateRootOracle");
  assert.match(bridge.stderr, new RegExp(`^StateRootOracle is at ${oracle}, by transaction 0x`, "m"));

  const sides = ["--verifier", verifier, "--oracle", oracle, "--account", LAYER_2_CONTRACT];
  const flags = [...sides, "--slot", "0x5", "--block", "7"];
  const {stdout, stderr} = await deploy(["claim", "--url", node.url, ...flags]);
  const claim = new DeployedContract(node, readArtefact("Claim"), JSON.parse(stdout || stderr).claim);
  const lower = (value: unknown) => String(value).toLowerCase();
  assert.equal(lower(await claim.read("verifier")), verifier);
  assert.equal(lower(await claim.read("oracle")), oracle);
  assert.equal(lower(await claim.read("account")), LAYER_2_CONTRACT);
  assert.deepEqual([await claim.read("mappingSlot"), await claim.read("blockNumber")], [5n, 7n]);
  const source = await new DeployedContract(node, readArtefact("StateRootOracle"), oracle).read("source");
  assert.equal(lower(source), DEPLOYER);
});

test("what is missing or wrong is named, and nothing is sent", async t => {
  const node = chain(t);
  if (node === undefined) return;
  const sent = () => node.request("eth_getTransactionCount", DEPLOYER, "latest");
  const before = await sent();
  const to = ["--url", node.url];
  const bridge = ["bridge", ...to, "--source", DEPLOYER, "--suite"];
  await refuse(2, /^error: expected one of bridge, claim, deposit, got "verifier"/, ["verifier"]);
  await refuse(2, /^error: the variable DEPLOY_KEY is missing/, ["deposit", ...to], "");
  await refuse(1, /^error: DEPLOY_KEY: expected the account's private key/, ["deposit", ...to], "0x12");
  await refuse(2, /^error: --suite: expected sha256 or poseidon2, got "keccak"/, [...bridge, "keccak"]);
  await refuse(1, /^error: --url: expected an http or https URL/, ["deposit", "--url", "localhost:8545"]);
  await refuse(1, /^error: --rollup: 0x24\w+ is no contract on the chain of http/, [
    ...["bridge", ...to, "--suite", "sha256", "--rollup", LAYER_2_CONTRACT],
  ]);
  const closed = new JsonRpcServer(({id}) => ({jsonrpc: "2.0", id, result: "0x"}));
  await closed.start();
  const gone = closed.url;
  await refuse(1, /^error: --suite: http:\S+ has no SHA-256 at address 2/, [
    ...["bridge", "--url", gone, "--suite", "sha256", "--source", DEPLOYER],
  ]);
  await closed.stop();
  await refuse(1, /^error: Deposit: --url: no answer from http:\S+: .*ECONNREFUSED/, [
    "deposit",
    "--url",
    gone,
  ]);
  assert.equal(await sent(), before);
});

test("a transaction that the node refuses, and one that fails in its block, is an error", async t => {
  const node = chain(t);
  if (node === undefined) return;
  const poor = /^error: Deposit: http:\S+ refuses eth_sendRawTransaction: insufficient funds/i;
  await refuse(1, poor, ["deposit", "--url", node.url], PENNILESS);
  // Enough to be sent, and too little for the code.
  const thrifty = new JsonRpcServer(async ({id, method, params}: JsonRpcCall) => {
    if (method === "eth_estimateGas") return {jsonrpc: "2.0", id, result: "0xf000"};
    return {...(await node.ask(method, params)), jsonrpc: "2.0", id};
  });
  await thrifty.start();
  try {
    const failed = /^error: Deposit: transaction 0x\w{64} failed in block \d+$/m;
    await refuse(1, failed, ["deposit", "--url", thrifty.url]);
  } finally {
    await thrifty.stop();
  }
});
