/** Published data that is too large for test/fixtures. It lies in ../shared/vectors next to the checkout, if it is there. */
import {existsSync, readFileSync} from "node:fs";
import type {TestContext} from "node:test";
import {notRun} from "../processes/notRun.ts";

const FOLDER = new URL("../shared/vectors/", import.meta.resolve("#package/package.json"));

/** @returns the parsed file, or undefined after marking the test as skipped */
export function readPublicData<Shape>(t: TestContext, name: string): Shape | undefined {
  const file = new URL(name, FOLDER);
  if (!existsSync(file)) {
    t.diagnostic(`NOT CHECKED against published data: ${file.pathname} is absent`);
    notRun(t, `${file.pathname} is absent`);
    return undefined;
  }
  return JSON.parse(readFileSync(file, "utf8")) as Shape;
}
