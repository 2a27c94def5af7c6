/**
 * What a flag needs to have an effect: the column `needs` of the tables of flags, in the names of other flags.
 *
 *   l2                  --l2 is given
 *   !l2                 it is not
 *   finality=tag        --finality is given, as tag
 *   diffs | l2          one of these holds
 *   l2, !demo           both do
 */
import type {Command, OptionValues} from "commander";

const OR = new Intl.ListFormat("en", {type: "disjunction"});
const AND = new Intl.ListFormat("en", {type: "conjunction"});

/** @returns why a flag with these needs has no effect, such as "without --l2"; undefined: it has one */
export function findLack(needs: string, values: OptionValues, command: Command): string | undefined {
  for (const clause of needs.split(", ")) {
    const conditions = clause.split(" | ");
    const unwanted = conditions.filter(one => one.startsWith("!")).map(one => one.slice(1));
    const wanted = conditions.filter(one => !one.startsWith("!"));
    const isMet =
      wanted.some(one => isGiven(one, values, command)) ||
      unwanted.some(one => !isGiven(one, values, command));
    if (isMet) continue;
    const present = unwanted.length === 0 ? [] : [`with ${AND.format(unwanted.map(writeFlag))}`];
    const absent = wanted.length === 0 ? [] : [`without ${OR.format(wanted.map(writeFlag))}`];
    return [...present, ...absent].join(" ");
  }
  return undefined;
}

function isGiven(condition: string, values: OptionValues, {options}: Command): boolean {
  const [name, word] = condition.split("=");
  const option = options.find(({long}) => long === `--${name}`);
  // A table that two commands share may name a flag that only one of them has.
  if (option === undefined) return false;
  const value = values[option.attributeName()];
  if (word !== undefined) return value === word;
  return option.negate ? value === false : value !== undefined && value !== false;
}

function writeFlag(condition: string): string {
  return `--${condition.replace("=", " ")}`;
}
