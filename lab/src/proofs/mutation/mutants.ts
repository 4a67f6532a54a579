/** Small wrong versions of a source, one condition, call or record changed in each; all in one text, behind switches. */
import { parseSync } from 'oxc-parser';

export interface Mutant {
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The expression that is changed, in the text. */
  readonly start: number;
  readonly end: number;
  /** True if it yields or consumes input: then it cannot be evaluated in addition to the original, or inside its own function. */
  readonly isStep: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator?: string;
  readonly name?: string;
  readonly computed?: boolean;
  readonly shorthand?: boolean;
  readonly left?: Node;
  readonly right?: Node;
  readonly argument?: Node;
  readonly test?: Node;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly properties?: readonly Node[];
  readonly key?: Node;
  readonly value?: unknown;
}

interface Change {
  readonly start: number;
  readonly end: number;
  readonly after: string;
  readonly isStep?: boolean;
}

const OTHER_OPERATOR: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};
const OTHER_METHOD = new Map([
  ['every', 'some'],
  ['some', 'every'],
  ['min', 'max'],
  ['max', 'min'],
]);

/** Methods without side effects. */
const PURE =
  'map filter some every find findIndex includes indexOf has get at slice subarray min max floor sqrt isInteger isFinite flatMap keys values entries reduce sha256 hash';
const PURE_METHODS = new Set(PURE.split(' '));
const PURE_FUNCTIONS = /^(is[A-Z]\w*|equalBytes|toHex|BigInt|Number)$/;

/**
 * Every mutant of a source, in the order of its lines. If the source reads bytes one after the other, every call that
 * reads more is a step.
 */
export function mutantsOf(text: string, readsOn = false): readonly Mutant[] {
  const { program, errors } = parseSync('source.ts', text);
  if (errors.length > 0) throw new Error(`it does not parse: ${errors[0]?.message}`);
  const isStep = (node: Node): boolean => hasStep(node) || (readsOn && hasEffect(node));
  return changesBelow(program as unknown as Node, text, isStep)
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .map((change) => ({
      ...change,
      isStep: change.isStep === true,
      line: text.slice(0, change.start).split('\n').length,
      before: text.slice(change.start, change.end),
    }));
}

/**
 * The source with all its mutants inactive, numbered from `first`: `mutated(number, mutant, original)` decides which of
 * two expressions counts; of two steps, `isAwake(number)` does.
 */
export function withSwitches(
  text: string,
  { mutants, first }: { readonly mutants: readonly Mutant[]; readonly first: number },
): string {
  const numbered = mutants.map((mutant, n) => ({ ...mutant, number: first + n }));
  const render = (start: number, end: number, inside: typeof numbered): string => {
    const outermost = inside[0];
    if (outermost === undefined) return text.slice(start, end);
    const isHere = (one: Change): boolean => one.start === outermost.start && one.end === outermost.end;
    const within = inside.filter((one) => one.start < outermost.end && !isHere(one));
    const after = inside.filter((one) => one.start >= outermost.end);
    const original = `(${render(outermost.start, outermost.end, within)})`;
    const switched = inside
      .filter(isHere)
      .reduce(
        (other, { number, after: wrong, isStep }) =>
          isStep
            ? `(globalThis.isAwake(${number}) ? (${wrong}) : ${other})`
            : `globalThis.mutated(${number}, () => (${wrong}), () => ${other})`,
        original,
      );
    return text.slice(start, outermost.start) + switched + render(outermost.end, end, after);
  };
  return render(0, text.length, numbered);
}

/** Types and imports have no behaviour. */
function changesBelow(node: Node, text: string, isStep: (node: Node) => boolean): Change[] {
  if (node.type.startsWith('TS') && !('expression' in node)) return [];
  if (node.type === 'ImportDeclaration') return [];
  // Only the conditions of these statements are changed.
  const isQuestion = node.type === 'IfStatement' || node.type === 'ConditionalExpression';
  const changed = (isQuestion ? node.test : undefined) ?? node;
  const changes = changesOf(node, text);
  const isOne = changes.length > 0 && isStep(changed);
  return [
    ...changes.map((change) => ({ ...change, isStep: isOne })),
    ...childrenOf(node).flatMap((child) => changesBelow(child, text, isStep)),
  ];
}

/** True if it may read on, or write. */
function hasEffect(node: Node): boolean {
  if (node.type === 'AssignmentExpression' || node.type === 'UpdateExpression') return true;
  if (node.type === 'CallExpression' && !isPure(node.callee)) return true;
  return childrenOf(node).some(hasEffect);
}

function isPure(callee: Node | undefined): boolean {
  return PURE_FUNCTIONS.test(callee?.name ?? '') || PURE_METHODS.has(callee?.property?.name ?? '');
}

/** True if it yields, other than in its own function. */
function hasStep(node: Node): boolean {
  if (node.type === 'YieldExpression' || node.type === 'AwaitExpression') return true;
  if (node.type.includes('Function')) return false;
  return childrenOf(node).some(hasStep);
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node)
    .flatMap((field) => (Array.isArray(field) ? field : [field]))
    .filter(isNode);
}

function changesOf(node: Node, text: string): Change[] {
  const { left, right, operator = '', argument, test } = node;
  const textOf = (part: Node | undefined): string => (part === undefined ? '' : text.slice(part.start, part.end));
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      if (operator === '??') return [{ ...spanOf(node), after: `(${textOf(left)} ?? undefined)` }];
      const isText = operator === '+' && [left, right].some((part) => isTextLike(part));
      const other = isText ? undefined : OTHER_OPERATOR[operator];
      return other === undefined ? [] : [{ ...spanOf(node), after: `(${textOf(left)} ${other} ${textOf(right)})` }];
    }
    case 'UnaryExpression':
      return operator === '!' ? [{ ...spanOf(node), after: textOf(argument) }] : [];
    case 'IfStatement':
      return test === undefined ? [] : [{ ...spanOf(test), after: 'false' }];
    case 'ConditionalExpression':
      return test === undefined ? [] : ['true', 'false'].map((after) => ({ ...spanOf(test), after }));
    case 'CallExpression':
      return callChanges(node, text);
    case 'ObjectExpression':
      return (node.properties ?? []).flatMap((property) => forgottenRecords(property, text));
    default:
      return [];
  }
}

function isTextLike(part: Node | undefined): boolean {
  return part?.type === 'TemplateLiteral' || (part?.type === 'Literal' && typeof part.value === 'string');
}

function callChanges(node: Node, text: string): Change[] {
  const { object, property, computed } = node.callee ?? {};
  if (object === undefined || property === undefined || computed) return [];
  const other = OTHER_METHOD.get(property.name ?? '');
  if (other !== undefined) {
    const after = text.slice(node.start, property.start) + other + text.slice(property.end, node.end);
    return [{ ...spanOf(node), after }];
  }
  return property.name === 'filter' ? [{ ...spanOf(node), after: text.slice(object.start, object.end) }] : [];
}

/** A step that forgets to write. */
function forgottenRecords({ key, value, shorthand }: Node, text: string): Change[] {
  if (shorthand === true || key?.name !== 'records' || !isNode(value)) return [];
  return text.slice(value.start, value.end) === '[]' ? [] : [{ ...spanOf(value), after: '[]' }];
}

function spanOf({ start, end }: Node): Pick<Change, 'start' | 'end'> {
  return { start, end };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
