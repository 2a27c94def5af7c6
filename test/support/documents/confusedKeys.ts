/** A defect of V8 that Node 24.0 to 24.21 and 26.0 to 26.10 have (nodejs/node 63785). */

/**
 * Whether JSON.parse may read a key wrongly in this JSON text, or in later ones: after a key with a backslash, it takes
 * another one that is written with an escape for the first.
 */
export const mayConfuseKeys: (json: string) => boolean = hasDefect()
  ? json => json.includes(String.raw`\\`)
  : () => false;

function hasDefect(): boolean {
  JSON.parse(String.raw`{"first":0,"\\":0}`);
  return "\\" in JSON.parse(String.raw`{"first":0,"\n":0}`);
}
