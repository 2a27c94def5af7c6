/** What a document of the repository prints in fences: commands, programs, answers. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {fileURLToPath} from "node:url";

/** Folder of the clone, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));

interface PrintedBlock {
  /** Behind the fence; "" for an answer. */
  readonly language: string;
  readonly text: string;
}

/** @param path - from the clone's folder */
export function readDocument(path: string): string {
  return readFileSync(new URL(path, import.meta.resolve("#package/package.json")), "utf8");
}

export function readSection(page: string, heading: string): string {
  const section = new RegExp(`^## ${heading}\\n([\\s\\S]*?)^## `, "m").exec(page)?.[1];
  assert.ok(section !== undefined, `the page has a section ${heading}`);
  return section;
}

export function readBlocks(text: string): PrintedBlock[] {
  const fences = text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...fences].map(([, language, content]) => ({language, text: content}) as PrintedBlock);
}

export function readBlock(text: string, language: string): string {
  const block = readBlocks(text).find(block => block.language === language);
  assert.ok(block !== undefined, `there is a block of "${language}"`);
  return block.text;
}
