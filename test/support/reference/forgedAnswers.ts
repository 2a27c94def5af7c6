/**
 * Forgeries of answers of chain_getProof: in each, one place of the JSON has another value. All kinds of values that stand in an answer
 * are changed in all ways that fit their kind, so no place is forgotten.
 */
import {isDeepStrictEqual} from "node:util";
import {isObject} from "../../../client/bytes/values.ts";
import {applyEdits, type JsonEdit, listPlaces, readAt} from "./jsonPath.ts";

interface ForgedAnswer {
  readonly edit: JsonEdit;
  readonly answer: unknown;
}

/** Nodes of a path: its ends, and one between, to which all others are alike. */
export const FEW_NODES: readonly number[] = [0, 20, 39, 40, 41];

/**
 * @param answer - a valid one, parsed. None of what is made of it may be accepted
 * @param nodes - those of each path that are changed; default: all
 */
export function* forgeAnswers(answer: unknown, nodes?: readonly number[]): Generator<ForgedAnswer> {
  const entries = listPlaces(answer)
    .map(path => readAt(answer, path))
    .filter(value => isObject(value) && "key" in value);
  for (const path of listPlaces(answer)) {
    const node = path[path.indexOf("proofRelatedNodes") + 1];
    if (path.includes("proofRelatedNodes") && node !== undefined && nodes?.includes(Number(node)) === false)
      continue;
    const here = readAt(answer, path);
    for (const value of changesOf(here, entries)) {
      if (isDeepStrictEqual(value, here)) continue;
      const edit = {path, value};
      yield {edit, answer: applyEdits(answer, [edit])};
    }
  }
}

/** @param entries - proofs of keys, of which each may stand in the place of another */
function changesOf(value: unknown, entries: readonly unknown[]): readonly unknown[] {
  if (typeof value === "string") return [null, 1, ...respell(value.slice(2))];
  if (typeof value === "number")
    return [`${value}`, value + 0.5, -3, -0, value + 2 ** 32, 2 ** 40, value + 2 ** 40];
  if (Array.isArray(value)) {
    const exchanged = value
      .slice(1)
      .map((one, i) => [...value.slice(0, i), one, value[i], ...value.slice(i + 2)]);
    return [
      {...value, length: value.length},
      value.slice(1),
      value.slice(0, -1),
      [...value, 1],
      ...exchanged,
    ];
  }
  const fields = value as Record<string, unknown>;
  const {leftLeafIndex, leftProof, rightLeafIndex, rightProof} = fields;
  const turned = {leftLeafIndex: rightLeafIndex, leftProof: rightProof};
  return [
    null,
    [],
    ...Object.keys(fields).map(name =>
      Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name)),
    ),
    ...("key" in fields ? entries.map(entry => ({...(entry as object), key: fields.key})) : []),
    ...("leftProof" in fields
      ? [{...fields, ...turned, rightLeafIndex: leftLeafIndex, rightProof: leftProof}]
      : []),
  ];
}

/** @returns texts that are no canonical hex of the same bytes, of more, of fewer or of others, and of empty leaves */
function respell(digits: string): readonly string[] {
  const middle = Math.floor(digits.length / 2);
  const flipped = [0, middle, digits.length - 1].map(at => {
    const digit = Number.parseInt(digits.charAt(at), 16) ^ 1;
    return `0x${digits.slice(0, at)}${digit.toString(16)}${digits.slice(at + 1)}`;
  });
  return [
    ...["", "0x", digits, ` 0x${digits}`, `0X${digits}`, `0x${digits}\n`],
    ...[`0${digits}`, `00${digits}`, `${digits}0`, `${digits}00`, digits.slice(1), digits.slice(0, -1)].map(
      text => `0x${text}`,
    ),
    ...[digits.toUpperCase(), digits.replace(/[a-f]/, a => a.toUpperCase()), digits.replace(/^0+/, "")].map(
      text => `0x${text}`,
    ),
    ...[32, 128].map(length => `0x${"00".repeat(length)}`),
    ...flipped,
  ];
}
