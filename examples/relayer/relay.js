/**
 * Relays a claim: gets the proof of a slot of layer 2 from proofd, verifies it, and sends it to the contract on layer 1, which pays.
 *
 *   node relay.js --proofd URL --l1 URL --claim ADDRESS --claimant ADDRESS [--forge]
 *
 * --l1 is a node with an unlocked account, such as anvil. --forge changes one bit of the proof, to see the contract refuse it.
 */
import {readFile} from "node:fs/promises";
import {parseArgs} from "node:util";
import * as AbiError from "ox/AbiError";
import * as AbiFunction from "ox/AbiFunction";
import {compact, createProofClient, encodeHex, layer1Root, sha256Suite} from "proofd-client";

const {values: flags} = parseArgs({
  options: {
    proofd: {type: "string"},
    l1: {type: "string"},
    claim: {type: "string"},
    claimant: {type: "string"},
    forge: {type: "boolean"},
  },
});
const artefacts = await readFile(new URL("../../contracts/artefacts.json", import.meta.url), "utf8");
const {Claim, StateRootOracle, Sha256ProofVerifier} = JSON.parse(artefacts).contracts;
const abi = [...Claim.abi, ...StateRootOracle.abi, ...Sha256ProofVerifier.abi];

/** Calls the node of layer 1. */
async function ask(method, ...params) {
  const response = await fetch(flags.l1, {
    method: "POST",
    headers: {"content-type": "application/json"},
    body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
  });
  const {result, error} = await response.json();
  if (error !== undefined) throw Object.assign(new Error(`${method}: ${error.message}`), {data: error.data});
  return result;
}

/** Reads from the claim. */
async function read(name, ...args) {
  const method = AbiFunction.fromAbi(abi, name);
  const call = {to: flags.claim, data: AbiFunction.encodeData(method, args)};
  return AbiFunction.decodeResult(method, await ask("eth_call", call, "latest"));
}

async function relay() {
  // What the claim pays for: a slot of an account on layer 2, at one block.
  const [account, block, oracle] = [await read("account"), await read("blockNumber"), await read("oracle")];
  const slot = await read("slotOf", flags.claimant);

  // proofd is not trusted: the client verifies its answer against the root that layer 1 holds. A wrong proof costs nothing
  // here; on layer 1 it would cost gas.
  const trustedRoot = layer1Root({url: flags.l1, contract: oracle, method: "stateRoot"});
  const client = createProofClient({url: flags.proofd, suite: sha256Suite, trustedRoot});
  // The answer comes as soon as proofd sees on layer 1 that the block is finalized. Then layer 1 holds its root.
  const request = {address: account, storageKeys: [slot]};
  const {slots, proof: answer} = await client.waitForProof({...request, block});
  if (slots[0] === undefined) throw new Error(`nothing is owed to ${flags.claimant} at block ${block}`);
  const proof = compact(sha256Suite, request, answer);
  if (flags.forge) proof[proof.length - 1] ^= 1;

  const data = AbiFunction.encodeData(AbiFunction.fromAbi(abi, "claim"), [flags.claimant, encodeHex(proof)]);
  const [from] = await ask("eth_accounts");
  const {gasUsed, transactionHash} = await send({from, to: flags.claim, data});
  console.log(
    `paid ${slots[0]} wei to ${flags.claimant}: ${proof.length} bytes of proof, ${BigInt(gasUsed)} gas`,
  );
  console.log(`transaction ${transactionHash}`);
}

/** Tries the transaction without sending it, sends it, and waits until it is in a block. */
async function send(transaction) {
  await ask("eth_call", transaction, "latest").catch(error => {
    const reason = error.data === undefined ? error.message : AbiError.fromAbi(abi, error.data).name;
    throw new Error(`the contract refuses the claim: ${reason}`, {cause: error});
  });
  const hash = await ask("eth_sendTransaction", transaction);
  for (;;) {
    const receipt = await ask("eth_getTransactionReceipt", hash);
    if (receipt?.status === "0x1") return receipt;
    if (receipt?.status === "0x0") throw new Error(`transaction ${hash} failed`);
    await new Promise(resolve => setTimeout(resolve, 200));
  }
}

await relay().catch(error => {
  console.error(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
