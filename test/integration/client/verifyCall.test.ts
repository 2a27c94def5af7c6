/** verifyCall of proofd-client/call against a real service of the demo chain: it returns what eth_call returns, and believes nothing. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";
import {decodeHex, quantity} from "../../../client/bytes/hex.ts";
import {
  type CallTrust,
  type VerifiableCall,
  verifyCall,
  verifyCallAnswer,
} from "../../../client/call/verifyCall.ts";
import {createProofClient, type ProofClient} from "../../../client/methods/proofClient.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {codeOf} from "../../support/estimates/assembler.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {answerCalls, Upstream} from "../../support/http/upstream.ts";
import {Chromium, findChromium} from "../../support/processes/chromium.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import type {CallAnswer} from "../../support/reference/forgedWitnesses.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const {token, ledger, delegated, absent, chainId, lastBlock} = JSON.parse(
  readFileSync(join(ROOT, "demo/addresses.json"), "utf8"),
);
const folder = new WorkFolder();
let service: OwnService;
let client: ProofClient<false>;
before(async () => {
  service = await OwnService.serve(["--demo", "--db", folder.file("db")], {estimates: true});
  client = createProofClient({url: service.url, verify: false});
});
after(() => service.stop());

const argument = (address: string) => address.slice(2).padStart(64, "0");
const balanceOf = (holder: string): VerifiableCall => ({
  to: token.address,
  data: `0x70a08231${argument(holder)}`,
});
/** A creation whose code is the word that `text` leaves: with it, a call runs any code. */
const run = (text: string): VerifiableCall => ({
  from: token.holder,
  data: codeOf(`${text} PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN`),
});
/** Asks the token for a balance, from code. */
const askToken = (opcode: string): VerifiableCall => {
  const {data = ""} = balanceOf(token.holder);
  const words = [data.slice(0, 66), `0x${data.slice(66).padEnd(64, "0")}`];
  const memory = words.map((word, at) => `PUSH32 ${word} PUSH1 ${32 * at} MSTORE`).join(" ");
  return run(
    `${memory} PUSH1 32 PUSH1 64 PUSH1 36 PUSH1 0 PUSH20 ${token.address} GAS ${opcode} PUSH1 64 MLOAD ADD`,
  );
};

/** Batcher.run([]), which an account may only call of itself. */
const RUN_NOTHING = `0x9b56388e${"20".padStart(64, "0")}${"0".repeat(64)}`;

const CALLS: Readonly<Record<string, VerifiableCall>> = {
  "a balance": balanceOf(token.holder),
  "the balance of nobody": balanceOf(absent.address),
  "an account without code": {to: token.holder, data: "0x1234"},
  "an account that is absent": {to: absent.address, value: 1n, from: token.holder},
  "an account that delegates": {from: delegated.address, to: delegated.address, data: RUN_NOTHING},
  "a precompile": {to: `0x${"00".repeat(19)}02`, data: "0x616263"},
  "BALANCE of two accounts": run(`PUSH20 ${token.holder} BALANCE PUSH20 ${absent.address} BALANCE ADD`),
  "EXTCODEHASH and EXTCODESIZE": run(
    `PUSH20 ${ledger.address} EXTCODEHASH PUSH20 ${token.address} EXTCODESIZE ADD`,
  ),
  "EXTCODEHASH alone": run(`PUSH20 ${ledger.address} EXTCODEHASH`),
  EXTCODECOPY: run(`PUSH1 32 PUSH1 9 PUSH1 0 PUSH20 ${token.address} EXTCODECOPY PUSH1 0 MLOAD`),
  "BLOCKHASH of the parent, of older ones and of none": run(
    "PUSH1 1 NUMBER SUB BLOCKHASH PUSH1 7 NUMBER SUB BLOCKHASH ADD NUMBER BLOCKHASH ADD",
  ),
  "fields of the block": run("NUMBER COINBASE ADD BASEFEE ADD GASPRICE ADD PUSH1 0 BLOCKHASH ADD"),
  "CREATE, and a call of what is created, which returns 42": run(
    "PUSH19 0x69602a60005260206000f3600052600a6016f3 PUSH1 0 MSTORE PUSH1 19 PUSH1 13 PUSH1 0 CREATE PUSH1 64 MSTORE " +
      "PUSH1 32 PUSH1 96 PUSH1 0 PUSH1 0 PUSH1 0 PUSH1 64 MLOAD GAS CALL PUSH1 96 MLOAD ADD",
  ),
  "the gas of reading the coinbase, which is warm, twice": run(
    "GAS COINBASE BALANCE POP GAS COINBASE EXTCODESIZE POP GAS ADD ADD",
  ),
  "a slot that the call writes": run("PUSH1 7 PUSH1 3 SSTORE PUSH1 3 SLOAD"),
  "a delegate call of the token, which reads slots of the new contract": askToken("DELEGATECALL"),
  "a static call of the token": askToken("STATICCALL"),
  "gas that is left": run("GAS"),
  "a token transfer": {
    from: token.holder,
    to: token.address,
    data: `0xa9059cbb${argument(absent.address)}${"0".repeat(64)}`,
  },
};

async function trustOf(block: number): Promise<CallTrust & {blockHash: string; stateRoot: string}> {
  const {header, block: summary} = await client.getHeader({block: BigInt(block)});
  return {block: BigInt(block), blockHash: summary.hash, stateRoot: header.stateRoot as string, chainId};
}

async function ask({to, data, from, value}: VerifiableCall, block: number, method = "eth_call") {
  const tx = {to, data, from, value: value === undefined ? undefined : quantity(BigInt(value))};
  return service.call(method, [{...tx, gas: quantity(50_000_000n)}, quantity(BigInt(block))]);
}

for (const [what, call] of Object.entries(CALLS))
  test(`a verified call returns what eth_call returns, at several blocks: ${what}`, async () => {
    for (const block of [lastBlock, 70, 12]) {
      const {stateRoot, ...byHash} = await trustOf(block);
      const {result} = await ask(call, block);
      assert.match(result, /^0x/);
      assert.deepEqual(await verifyCall(client, call, byHash), {value: result, block: BigInt(block)});
    }
  });

const REFUSED = (at: RegExp) => (error: {code: unknown; message: string}) => {
  assert.equal(error.code, "PROOF_REFUSED", String(error));
  assert.match(error.message, at);
  return true;
};

test("a state root is enough for a call that reads nothing else of the block", async () => {
  const {blockHash, ...byRoot} = await trustOf(lastBlock);
  const {value} = await verifyCall(client, balanceOf(token.holder), byRoot);
  assert.equal(value, (await ask(balanceOf(token.holder), lastBlock)).result);
  for (const [opcode, name] of [
    ["NUMBER", "number"],
    ["COINBASE", "coinbase"],
    ["PUSH1 1 BLOCKHASH", "number"],
  ])
    await assert.rejects(
      verifyCall(client, run(opcode as string), byRoot),
      REFUSED(new RegExp(`^call: reads ${name} of the block, .* expected the option blockHash`)),
    );
});

test("what no header proves is refused: the chain id without the option, and the price of blobs", async () => {
  const {stateRoot, chainId: own, ...byHash} = await trustOf(lastBlock);
  const chain = {data: "0x4660005260206000f3"};
  await assert.rejects(verifyCall(client, chain, byHash), REFUSED(/^call: reads the chain id/));
  const {value} = await verifyCall(client, chain, {...byHash, chainId: own});
  assert.equal(BigInt(value), BigInt(own as number));
  await assert.rejects(
    verifyCall(client, run("BLOBBASEFEE"), byHash),
    REFUSED(/^call: reads getBlobGasPrice/),
  );
});

test("another hash, root, block or call than that of the answer is refused", async () => {
  const call = balanceOf(token.holder);
  const {result} = await ask(call, lastBlock, "proof_call");
  const {stateRoot, ...byHash} = await trustOf(lastBlock);
  const {blockHash, ...byRoot} = {...byHash, stateRoot};
  const older = await trustOf(lastBlock - 1);
  const verify = (own: VerifiableCall, trust: CallTrust) => verifyCallAnswer(own, result, trust);
  assert.ok(await verify(call, byHash));
  await assert.rejects(
    verify(call, {...byHash, blockHash: older.blockHash}),
    REFUSED(/^witness\.headers\[0\]: does not hash to the trusted block hash$/),
  );
  await assert.rejects(
    verify(call, {...byRoot, stateRoot: older.stateRoot}),
    REFUSED(/^witness\.headers: does not have the trusted state root$/),
  );
  await assert.rejects(
    verify(call, {...byHash, block: 99n}),
    REFUSED(/^witness\.headers\.number: expected 99, got 100$/),
  );
  // Else the server could choose any block with a known root.
  const rootOf = {stateRoot: byRoot.stateRoot, block: {blockHash: byHash.blockHash.toUpperCase()}};
  assert.ok(await verify(call, rootOf));
  for (const trust of [rootOf, byHash])
    await assert.rejects(
      verify(call, {...trust, block: {blockHash: older.blockHash}}),
      REFUSED(/^witness\.headers\.hash: expected 0x[0-9a-f]{64}, got 0x[0-9a-f]{64}$/),
    );
  await assert.rejects(
    verify(balanceOf(absent.address), byHash),
    REFUSED(/^witness\.state: the call reads 0x[0-9a-f]{64}, which is missing$/),
  );
  await assert.rejects(
    verify({...call, gasPrice: 1n} as VerifiableCall, byHash),
    REFUSED(/^call: expected the fields .* got gasPrice$/),
  );
  await assert.rejects(verify(call, {block: 100n}), TypeError);
});

test("a call that reverts or fails is an error with its data, and one that cannot be executed is not proven", async () => {
  const {stateRoot, ...byHash} = await trustOf(lastBlock);
  const data = `0xa9059cbb${argument(token.holder)}${"f".repeat(64)}`;
  const reverts: VerifiableCall = {from: absent.address, to: token.address, data};
  const {error} = await ask(reverts, lastBlock);
  await assert.rejects(verifyCall(client, reverts, byHash), {
    name: "RpcError",
    code: 3,
    data: error.data,
    message: "execution reverted",
  });
  // Nethermind's code, its list of keys, and what serializers may add.
  const {result: sent} = await ask(reverts, lastBlock, "proof_call");
  const other = {result: null, error: {...sent.error, code: -32015}, witness: {...sent.witness, keys: []}};
  await assert.rejects(verifyCallAnswer(reverts, other, byHash), {code: 3, data: error.data});
  other.error.data = "0x00";
  await assert.rejects(verifyCallAnswer(reverts, other, byHash), REFUSED(/^error\.data: expected "0x/));
  await assert.rejects(verifyCall(client, run("INVALID"), byHash), {
    name: "RpcError",
    code: -32000,
    message: "the execution failed: invalid opcode",
  });
  const poor: VerifiableCall = {from: absent.address, to: token.address, value: 1n};
  await assert.rejects(verifyCall(client, poor, byHash), REFUSED(/^error: .* insufficient funds/));
  await assert.rejects(
    verifyCall(client, {...reverts, gas: 100n}, byHash),
    REFUSED(/^error: .* intrinsic gas/),
  );
});

test("an error that a server sends without a witness is not taken for a revert", async () => {
  const {stateRoot, ...byHash} = await trustOf(lastBlock);
  const liar = new Upstream();
  const error = {code: 3, message: "execution reverted", data: "0x01"};
  liar.handler = answerCalls(() => ({error}));
  await liar.start();
  const asked = createProofClient({url: `${liar.url}`, verify: false});
  const expected = REFUSED(/^error: the server says without a proof: execution reverted$/);
  await assert
    .rejects(verifyCall(asked, balanceOf(token.holder), byHash), expected)
    .finally(() => liar.stop());
});

test("every element of a witness is needed, and the bytes are those of nodes, codes and one header", async () => {
  const {stateRoot, ...byHash} = await trustOf(lastBlock);
  for (const what of ["a balance", "BLOCKHASH of the parent, of older ones and of none", "EXTCODECOPY"]) {
    const call = CALLS[what] as VerifiableCall;
    const answer: CallAnswer = (await ask(call, lastBlock, "proof_call")).result;
    const {witness} = answer;
    let bytes = 0;
    for (const name of ["state", "codes", "headers"] as const)
      for (const [position, element] of witness[name].entries()) {
        bytes += decodeHex(element).length;
        // The oldest header is the block whose hash is read. The hash is in the next one.
        if (name === "headers" && position === 0 && witness.headers.length > 1) continue;
        const rest = {...witness, [name]: witness[name].filter((_, i) => i !== position)};
        await assert.rejects(
          verifyCallAnswer(call, {...answer, witness: rest}, byHash),
          {code: "PROOF_REFUSED"},
          `${what}: ${name}[${position}]`,
        );
      }
    const needed = [...witness.state, ...witness.codes].reduce(
      (sum, text) => sum + decodeHex(text).length,
      0,
    );
    if (what === "a balance") assert.ok(bytes <= 1.3 * needed, `${bytes} bytes for ${needed}`);
    const isOnce = new Set(Object.values(witness).flat()).size === Object.values(witness).flat().length;
    assert.ok(isOnce, what);
  }
});

test("proofd verify executes a call again, and says what is proven", async () => {
  const call = {...balanceOf(token.holder), gas: quantity(50_000_000n)};
  const request = {jsonrpc: "2.0", id: 1, method: "proof_call", params: [call, quantity(BigInt(lastBlock))]};
  const answer = await service.send(request);
  const {blockHash, stateRoot} = await trustOf(lastBlock);
  const path = folder.file("request.json");
  await writeFile(path, JSON.stringify(request));
  const verify = async (sent: object, ...flags: readonly string[]) => {
    await writeFile(folder.file("answer.json"), JSON.stringify(sent));
    return runHere(["verify", "--request", path, "--answer", folder.file("answer.json"), ...flags]);
  };
  const {value} = await verifyCall(client, balanceOf(token.holder), {blockHash});
  const byHash = await verify(answer, "--block-hash", blockHash);
  assert.equal(
    byHash.stdout,
    `value ${value}\nVERIFIED: the call at block ${lastBlock} under the root ${stateRoot}, in the header of block ${lastBlock} (${blockHash})\n`,
    byHash.stderr,
  );
  // That proofd says another root, of its own trees.
  const byNode = await verify(answer, "--block-hash", blockHash, "--node", service.url);
  assert.match(
    byNode.stdout,
    new RegExp(`^VERIFIED: .* under the root ${stateRoot}, of block ${lastBlock} .* as http:`, "m"),
  );
  const byRoot = await verify(answer, "--root", stateRoot, "--json");
  assert.deepEqual(JSON.parse(byRoot.stdout), {verified: true, value, block: "0x64"});
  const other = {...request, params: [{...call, value: "1e9"}, "latest"]};
  const named = (block: unknown) => ({...request, params: [{...call, value: null}, block]});
  for (const [sent, expected] of [
    [named("0x63"), /^REFUSED: witness\.headers\.number: expected 99, got 100\n$/],
    [named({blockNumber: "0x63"}), /^REFUSED: witness\.headers\.number: expected 99, got 100\n$/],
    [named({blockHash: `0x${"11".repeat(32)}`}), /^REFUSED: witness\.headers\.hash: expected 0x11/],
    [other, /^REFUSED: call\.value: expected an amount, got "1e9"\n$/],
    [named(blockHash), /^value 0x/],
    [named({blockHash}), /^value 0x/],
  ] as const) {
    await writeFile(path, JSON.stringify(sent));
    assert.match((await verify(answer, "--block-hash", blockHash)).stdout, expected);
  }
  await writeFile(path, JSON.stringify([request]));
  assert.match(
    (await verify(answer, "--block-hash", blockHash)).stderr,
    /request\[0\]: expected proof_call alone, got it in a batch$/m,
  );
  // Nothing proves which block a server takes for the newest.
  await writeFile(path, JSON.stringify({...request, params: [call, "latest"]}));
  const ofLatest = await verify(answer, "--root", stateRoot, "--json");
  assert.deepEqual(JSON.parse(ofLatest.stdout), {verified: true, value});
  const forged = {...answer, result: {...answer.result, result: `${value.slice(0, -1)}1`}};
  const refused = await verify(forged, "--root", stateRoot);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /^REFUSED: result: expected "0x0+569d98a69eb488000", got "0x0+569d98a69eb488001"\n$/,
  );
});

test("a bundle in Chromium verifies a call, and refuses a forged answer", async t => {
  const program = findChromium();
  if (program === undefined) return notRun(t, "no Chromium in PATH");
  const contents = `import {createProofClient} from "proofd-client";
    import {verifyCall, verifyCallAnswer} from "proofd-client/call";
    globalThis.check = async (call, trust) => {
      const client = createProofClient({url: location.origin, verify: false});
      const {value} = await verifyCall(client, call, trust);
      const answer = await client.getCallWitness({call, block: {blockHash: trust.blockHash}});
      answer.witness.codes.pop();
      return [value, await verifyCallAnswer(call, answer, trust).catch(({code, at}) => code + " at " + at)];
    };`;
  const {outputFiles} = await build({
    stdin: {contents, resolveDir: ROOT},
    bundle: true,
    minify: true,
    format: "iife",
    write: false,
    logLevel: "error",
  });
  const bundle = outputFiles[0]?.text ?? "";
  t.diagnostic(`the bundle has ${bundle.length} bytes`);
  assert.ok(bundle.length < 400_000, `${bundle.length} bytes`);
  const chromium = await Chromium.start(program, folder.file("profile"));
  t.after(() => chromium.stop());
  await chromium.open(service.url);
  await chromium.until("document.readyState === 'complete'");
  await chromium.evaluate(`${bundle};1`);
  const call = balanceOf(token.holder);
  const {blockHash} = await trustOf(lastBlock);
  const {result} = await ask(call, lastBlock);
  assert.deepEqual(
    await chromium.evaluate(`check(${JSON.stringify(call)}, ${JSON.stringify({blockHash})})`),
    [result, "PROOF_REFUSED at witness.codes"],
  );
});
