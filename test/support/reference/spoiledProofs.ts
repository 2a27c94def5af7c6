/**
 * Answers that a careless or hostile prover might send, and the complaint that each must cause. They are variations of an
 * answer for an account that exists and three slots, of which the second does not exist.
 */
import {readAt, writeAt} from "./jsonPath.ts";
import type {AbsenceProof, ExistenceProof} from "./referenceTree.ts";

/** The valid answer that is spoiled; the spoilers may overwrite it. */
export interface ValidAnswer {
  accountProof: ExistenceProof;
  storageProofs: [ExistenceProof, AbsenceProof, ExistenceProof];
}

interface SpoiledProof {
  /** Completes "an answer that ...". */
  readonly name: string;
  readonly spoil: (result: ValidAnswer) => unknown;
  /** The verifier's message. */
  readonly complaint: RegExp;
  /** Nothing false is shown: only exactProof.ts refuses it. */
  readonly isShapeOnly?: true;
}

export const SPOILED_PROOFS: readonly SpoiledProof[] = [
  {name: "is null", spoil: () => null, complaint: /result: not an object/},
  {name: "is an array", spoil: () => [], complaint: /result: not an object/},
  {
    name: "has a field more",
    spoil: r => ({...r, more: 1}),
    complaint: /result: fields are/,
    isShapeOnly: true,
  },
  {
    name: "has its fields in another order",
    spoil: ({accountProof, storageProofs}) => ({storageProofs, accountProof}),
    complaint: /result: fields are/,
    isShapeOnly: true,
  },
  {
    name: "has leafIndex before key",
    spoil: r => ({...r, accountProof: turn(r.accountProof, ["leafIndex", "key", "proof"])}),
    complaint: /accountProof: fields are/,
    isShapeOnly: true,
  },
  {
    name: "has proofRelatedNodes before value",
    spoil: r => {
      const proof = turn(r.accountProof.proof, ["proofRelatedNodes", "value"]);
      return {...r, accountProof: {...r.accountProof, proof}};
    },
    complaint: /accountProof\.proof: fields are/,
    isShapeOnly: true,
  },
  {
    name: "has both forms at once",
    spoil: r => ({...r, accountProof: {...r.storageProofs[1], ...r.accountProof}}),
    complaint: /accountProof: fields are/,
    isShapeOnly: true,
  },
  {name: "has no storage proofs", spoil: r => ({...r, storageProofs: {}}), complaint: /not an array/},
  {name: "lacks a storage proof", spoil: r => ({...r, storageProofs: []}), complaint: /0 entries for 3 keys/},
  {
    name: "has its storage proofs in another order",
    spoil: r => ({...r, storageProofs: [r.storageProofs[1], r.storageProofs[0], r.storageProofs[2]]}),
    complaint: /storageProofs\[0\]\.key/,
  },
  {
    name: "has the index as text",
    spoil: edit("accountProof.leafIndex", () => "3"),
    complaint: /natural number/,
  },
  {
    name: "has an index that is no integer",
    spoil: edit("accountProof.leafIndex", () => 3.5),
    complaint: /natural number/,
  },
  {
    name: "has an index below zero",
    spoil: edit("accountProof.leafIndex", () => -3),
    complaint: /natural number/,
  },
  {
    name: "has an index beyond 40 bits",
    spoil: edit("accountProof.leafIndex", (i: number) => i + 2 ** 40),
    complaint: /40 bits/,
  },
  {
    name: "has the first index that has no 40 bits",
    spoil: edit("accountProof.leafIndex", () => 2 ** 40),
    complaint: /leaf index is beyond 40 bits/,
  },
  {
    name: "has an index 2^32 higher",
    spoil: edit("accountProof.leafIndex", (i: number) => i + 2 ** 32),
    complaint: /fold/,
  },
  {
    name: "has the address in upper case",
    spoil: edit("accountProof.key", (k: string) => `${k.slice(0, -1)}A`),
    complaint: /key/,
  },
  {
    name: "has a key that is not padded",
    spoil: edit("storageProofs.0.key", () => "0x1"),
    complaint: /\.key: is not/,
  },
  {
    name: "has upper-case digits in a node",
    spoil: edit("accountProof.proof.proofRelatedNodes.20", (n: string) => `0x${n.slice(2).toUpperCase()}`),
    complaint: /\[20\]: not lower-case/,
  },
  {
    name: "has a node without 0x",
    spoil: edit("accountProof.proof.proofRelatedNodes.20", (n: string) => n.slice(2)),
    complaint: /\[20\]: not lower-case/,
  },
  {
    name: "has half a byte more",
    spoil: edit("accountProof.proof.proofRelatedNodes.20", (n: string) => `${n}0`),
    complaint: /\[20\]: not lower-case 0x hex of whole bytes/,
  },
  {
    name: "has a node that is too long",
    spoil: edit("accountProof.proof.proofRelatedNodes.20", (n: string) => `${n}00`),
    complaint: /\[20\]: 65 bytes instead of 64/,
  },
  {
    name: "has a sibling leaf's opening that is too long",
    spoil: edit("accountProof.proof.proofRelatedNodes.40", (n: string) => `${n}00`),
    complaint: /\[40\]: 129 bytes instead of 128/,
  },
  {
    name: "has an empty leaf in place of the leaf",
    spoil: edit("accountProof.proof.proofRelatedNodes.41", () => `0x${"00".repeat(32)}`),
    complaint: /\[41\]: 32 bytes instead of 128/,
  },
  {
    name: "has an empty leaf in place of a branch",
    spoil: edit("accountProof.proof.proofRelatedNodes.39", () => `0x${"00".repeat(32)}`),
    complaint: /\[39\]: 32 bytes instead of 64/,
  },
  {
    name: "has a slot's value with a byte more",
    spoil: edit("storageProofs.0.proof.value", (value: string) => `${value}00`),
    complaint: /storageProofs\[0\]\.proof\.value: is not 32 bytes/,
  },
  {
    name: "has its nodes in an object",
    spoil: edit("accountProof.proof.proofRelatedNodes", (nodes: string[]) => ({...nodes, length: 42})),
    complaint: /not an array/,
  },
  {
    name: "has 41 nodes",
    spoil: edit("accountProof.proof.proofRelatedNodes", (nodes: string[]) => nodes.slice(1)),
    complaint: /41 entries instead of 42/,
  },
  {
    name: "has 43 nodes",
    spoil: edit("accountProof.proof.proofRelatedNodes", (nodes: string[]) => [...nodes, nodes[41]]),
    complaint: /43 entries instead of 42/,
  },
  {
    name: "has two nodes exchanged",
    spoil: edit("accountProof.proof.proofRelatedNodes", (nodes: string[]) => [
      ...nodes.slice(0, 38),
      nodes[39],
      nodes[38],
      ...nodes.slice(40),
    ]),
    complaint: /does not fold/,
  },
  {
    name: "has an empty sibling leaf where there is one",
    spoil: edit("accountProof.proof.proofRelatedNodes.40", () => `0x${"00".repeat(32)}`),
    complaint: /does not fold/,
  },
  {
    name: "has an empty sibling leaf written as an opening",
    spoil: edit("storageProofs.1.rightProof.proofRelatedNodes.40", () => `0x${"00".repeat(128)}`),
    complaint: /does not fold/,
  },
  {
    name: "has left and right exchanged",
    spoil: r => {
      const [first, {key, leftLeafIndex, leftProof, rightLeafIndex, rightProof}, last] = r.storageProofs;
      const [left, right] = [
        {leftLeafIndex: rightLeafIndex, leftProof: rightProof},
        {rightLeafIndex: leftLeafIndex, rightProof: leftProof},
      ];
      return {...r, storageProofs: [first, {key, ...left, ...right}, last]};
    },
    complaint: /left leaf is not below/,
  },
  {
    name: "proves the account's absence with a slot's proof",
    spoil: r => ({...r, accountProof: {...r.storageProofs[1], key: r.accountProof.key}}),
    complaint: /trusted root/,
  },
];

/** A spoiler of one place, given as names joined by dots. */
function edit<Value>(place: string, change: (value: Value) => unknown): (result: ValidAnswer) => unknown {
  const path = place.split(".");
  return result => {
    writeAt(result, path, change(readAt(result, path) as Value));
    return result;
  };
}

/** The same fields in another order. */
function turn<Fields extends object>(fields: Fields, names: readonly (keyof Fields)[]): object {
  return Object.fromEntries(names.map(name => [name, fields[name]]));
}
