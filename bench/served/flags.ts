/** Flags of the benches that run servers: whole numbers and lists, checked before any work. */

/** @returns the number; ends the program with exit code 2 where it is none of `least` to `most` */
export function parseCount(flag: string, text: string, least: number, most: number): number {
  const count = /^[0-9]+$/.test(text)
    ? Number(text)
    : /^[0-9]+k$/i.test(text)
      ? Number.parseInt(text, 10) * 1e3
      : Number.NaN;
  const value = /^[0-9]+M$/i.test(text) ? Number.parseInt(text, 10) * 1e6 : count;
  if (value >= least && value <= most) return value;
  return refuse(
    `${flag} is '${text}': expected a whole number from ${least} to ${most}, such as 500, 100k or 1M`,
  );
}

/** @returns those of `known` that `text` names, separated by commas; all where it is left out */
export function parseList<T extends string>(
  flag: string,
  text: string | undefined,
  known: readonly T[],
): T[] {
  if (text === undefined) return [...known];
  const names = text.split(",").map(name => name.trim());
  const unknown = names.find(name => !known.includes(name as T));
  if (unknown !== undefined) return refuse(`${flag} has '${unknown}': expected some of ${known.join(", ")}`);
  return known.filter(name => names.includes(name));
}

function refuse(reason: string): never {
  process.stderr.write(`error: ${reason}\n`);
  process.exit(2);
}
