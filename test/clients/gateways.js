/** `@unruggable/gateways` with ethers: its provers, from the calls they make to the witness that they would send to layer 1. */
import assert from "node:assert/strict";
import {EthProver, GatewayRequest, LineaProver, TrustedRollup} from "@unruggable/gateways";
import {AbiCoder, JsonRpcProvider, SigningKey} from "ethers";
import {decodeHex} from "../../dist/client/bytes/hex.js";
import {poseidon2Suite} from "../../dist/client/hash/hashSuites.js";
import {verifyProof} from "../../dist/client/proof/proofVerifier.js";

/** The contract of EIP-7251, which has code and no storage on the demo chain. */
const WITHOUT_STORAGE = "0x0000bbddc7ce488642fb579f8b00f3a590007251";
const PROOF = "tuple(uint256 leafIndex, bytes value, bytes[] nodes)";

export async function checkGateways(url, addresses) {
  const provider = new JsonRpcProvider(url);
  const methods = new Set();
  provider.on("debug", ({action, payload}) => {
    if (action === "sendRpcPayload") for (const {method} of [payload].flat()) methods.add(method);
  });
  try {
    const prover = await createProver(provider, addresses.lastBlock);
    await checkReadiness(provider, prover);
    await checkRequest(prover, addresses, await readStateRoot(url, prover.block));
    await checkContractWithoutStorage(prover);
    console.log(`gateways: methods called by ethers and LineaProver: ${[...methods].sort().join(", ")}`);
    methods.clear();
    await checkEthProver(provider, addresses);
    console.log(`gateways: methods called by ethers and EthProver: ${[...methods].sort().join(", ")}`);
  } finally {
    provider.destroy();
  }
}

async function createProver(provider, finalized) {
  const prover = await LineaProver.latest(provider);
  assert.equal(prover.blockNumber, BigInt(finalized));
  // Else the library reads values with eth_getCode and eth_getStorageAt, and only proves them by linea_getProof.
  prover.fast = false;
  return prover;
}

/** The library waits for a block by the code of the error for one that cannot be proved yet. */
async function checkReadiness(provider, prover) {
  const next = new LineaProver(provider, prover.blockNumber + 1n);
  const ready = [await prover.isShomeiReady(), await next.isShomeiReady()];
  console.log(
    `gateways isShomeiReady: block ${prover.blockNumber} ${ready[0]}, block ${next.blockNumber} ${ready[1]}`,
  );
  assert.deepEqual(ready, [true, false]);
}

/** What layer 1 would tell; asked beside the provider, whose calls are listed. */
async function readStateRoot(url, block) {
  const call = {jsonrpc: "2.0", id: 1, method: "chain_getStateRoot", params: [block]};
  const headers = {"content-type": "application/json"};
  const response = await fetch(url, {method: "POST", headers, body: JSON.stringify(call)});
  return (await response.json()).result.stateRoot;
}

function createRequest({token, account, absent}) {
  const request = new GatewayRequest();
  for (const {address} of [account, absent]) request.setTarget(address).isContract().addOutput();
  request.setTarget(token.address).isContract().addOutput();
  for (const slot of slotsOf(token)) request.setSlot(slot).read().addOutput();
  return request;
}

function slotsOf({totalSupplySlot, holderBalanceSlot, clearedSlot}) {
  return [totalSupplySlot, holderBalanceSlot, clearedSlot];
}

/** As it is, and in the way of reading values by proofs alone. */
async function checkEthProver(provider, addresses) {
  const rollup = new TrustedRollup(provider, EthProver, new SigningKey(`0x${"11".repeat(32)}`));
  const {prover: first} = await rollup.fetchLatestCommit();
  const second = new EthProver(provider, first.block);
  second.fast = false;
  const found = [];
  for (const prover of [first, second]) {
    const state = await prover.evalRequest(createRequest(addresses));
    const outputs = await state.resolveOutputs();
    found.push([outputs, await prover.prove(state.needs)]);
  }
  const [isContract, values] = splitOutputs(found[0][0]);
  console.log(`gateways EthProver: contract or not ${isContract.join(", ")}; slots ${values.join(", ")}`);
  assert.deepEqual(isContract, [0n, 0n, 1n]);
  assert.ok(values[0] > 0n && values[1] > 0n && values[2] === 0n);
  assert.deepEqual(found[1], found[0]);
}

async function checkRequest(prover, addresses, stateRoot) {
  const {token, account, absent} = addresses;
  const slots = slotsOf(token);
  const request = createRequest(addresses);
  const state = await prover.evalRequest(request);
  const [isContract, values] = splitOutputs(await state.resolveOutputs());
  console.log(`gateways evalRequest: contract or not ${isContract.join(", ")}; slots ${values.join(", ")}`);
  assert.deepEqual(isContract, [0n, 0n, 1n]);

  const {proofs, order} = await prover.prove(state.needs);
  const encoded = Array.from(order, index => proofs[index]);
  const verify = (address, keys, witness) =>
    verifyProof(poseidon2Suite, decodeHex(stateRoot), address, keys, readAnswer(address, keys, witness));
  const proven = [
    verify(account.address, [], encoded.slice(0, 1)),
    verify(absent.address, [], encoded.slice(1, 2)),
    verify(token.address, slots, encoded.slice(2)),
  ];
  console.log(
    `gateways prove: a witness of ${proofs.length} proofs, verified against the state root ${stateRoot}`,
  );
  assert.deepEqual(
    proven.map(({account}) => account === undefined),
    [false, true, false],
  );
  assert.deepEqual(
    proven[2].slots.map(value => value ?? 0n),
    values,
  );
  assert.equal(proven[2].slots[2], undefined, "a cleared slot is absent");
}

/**
 * The library tells an empty storage tree by its root under MiMC, the network's hash before poseidon2. So it expects a
 * proof for each slot here too, where that network's server and proofd answer none.
 */
async function checkContractWithoutStorage(prover) {
  const {accountProof} = await prover.getProofs(WITHOUT_STORAGE);
  assert.ok(LineaProver.isContract(accountProof));
  await assert.rejects(prover.getProofs(WITHOUT_STORAGE, [0n]), error => {
    console.log(
      `gateways getProofs, a slot of a contract without storage: the library refuses, ${error.message}`,
    );
    return error.message === "expected 1 storage proofs: got 0";
  });
}

function splitOutputs(outputs) {
  const numbers = outputs.map(output => BigInt(output));
  return [numbers.slice(0, 3), numbers.slice(3)];
}

/** The answer of linea_getProof again, out of a witness: proof by proof, the account's first. */
function readAnswer(address, keys, [accountProof, ...storageProofs]) {
  return {
    accountProof: readEntry(address, accountProof),
    storageProofs: keys.map((key, i) => readEntry(key, storageProofs[i])),
  };
}

function readEntry(key, encoded) {
  const [left, right] = AbiCoder.defaultAbiCoder()
    .decode([PROOF, PROOF], encoded)
    .map(({leafIndex, value, nodes}) => ({
      leafIndex: Number(leafIndex),
      proof: {value, proofRelatedNodes: [...nodes]},
    }));
  if (right.proof.proofRelatedNodes.length === 0) return {key, ...left};
  return {
    key,
    leftLeafIndex: left.leafIndex,
    leftProof: left.proof,
    rightLeafIndex: right.leafIndex,
    rightProof: right.proof,
  };
}
