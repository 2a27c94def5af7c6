/** Shell completion scripts (`proofd completion`). */
import type {Command, Option} from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export function writeCompletion(program: Command, shell: (typeof SHELLS)[number]): string {
  const commands = program.commands.filter(({options}) => options.length > 0);
  if (shell === "fish") return writeFish(program.commands, commands);
  const prelude = shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return `${prelude}${writeBash(program.commands, commands)}`;
}

/** `-o default` completes file names, for flags without a list of words. */
function writeBash(all: readonly Command[], commands: readonly Command[]): string {
  const cases = commands.flatMap(command => {
    const name = command.name();
    const {options} = command;
    const chosen = options.flatMap(({long, argChoices}) =>
      argChoices === undefined ? [] : [`    "${name} ${long}") words="${argChoices.join(" ")}" ;;`],
    );
    const free = options.filter(option => option.required && option.argChoices === undefined);
    const files = free.map(({long}) => `"${name} ${long}"`).join(" | ");
    const flags = options.map(({long}) => long).join(" ");
    return [
      ...chosen,
      ...(files === "" ? [] : [`    ${files}) return ;;`]),
      `    "${name} "*) words="${flags}" ;;`,
    ];
  });
  return `_proofd() {
  COMPREPLY=()
  local words=""
  case "\${COMP_WORDS[1]} $3" in
${cases.join("\n")}
    "completion "*) words="${SHELLS.join(" ")}" ;;
  esac
  if [ "$COMP_CWORD" = 1 ]; then words="${all.map(command => command.name()).join(" ")}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$2"))
}
complete -o default -F _proofd proofd
`;
}

function writeFish(all: readonly Command[], commands: readonly Command[]): string {
  const names = all.map(
    command =>
      `complete -c proofd -n __fish_use_subcommand -f -a ${command.name()} -d ${quote(command.description())}`,
  );
  const flags = commands.flatMap(command =>
    command.options.map(option => {
      const where = `-n '__fish_seen_subcommand_from ${command.name()}'`;
      return `complete -c proofd ${where} -l ${option.long?.slice(2)}${fishValue(option)} -d ${quote(option.description)}`;
    }),
  );
  const shells = `complete -c proofd -n '__fish_seen_subcommand_from completion' -f -a '${SHELLS.join(" ")}'`;
  return `${[...names, ...flags, shells].join("\n")}\n`;
}

function fishValue({required, argChoices}: Option): string {
  if (argChoices !== undefined) return ` -x -a '${argChoices.join(" ")}'`;
  return required ? " -r" : " -f";
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
