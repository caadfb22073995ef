/** Where the variables of an environment come from: what is built in, its variables.yml, the process. */
import { join } from 'node:path'
import { isMap, isScalar, type Pair, type Scalar } from 'yaml'
import { checkYaml } from '../../../config/yaml.ts'
import { readFileBelow } from '../read-file-below.ts'
import { VARIABLE_NAME } from './variable-text.ts'

interface FoundVariable {
  readonly value: string
  readonly from: 'file' | 'built-in' | 'process'
}

export interface Variables {
  find(name: string): FoundVariable | undefined
  /** Everything that the file has, by name. */
  readonly inFile: Readonly<Record<string, string>>
  /** What is wrong with the file: nobody can tell then what its variables would have been. */
  readonly errors: readonly { readonly file: string; readonly message: string }[]
}

interface VariableSources {
  readonly root: string
  readonly environment: string
  readonly builtIn: Readonly<Record<string, string>>
  readonly process: Readonly<Record<string, string>>
}

export const VARIABLES_FILE = 'variables.yml'
const FILES = [VARIABLES_FILE, 'variables.yaml'] as const

export async function readVariables({ root, environment, builtIn, process }: VariableSources): Promise<Variables> {
  const { values, errors } = await readFiles(root, environment)
  const inOrder = [
    { from: 'built-in', values: builtIn },
    { from: 'file', values },
    { from: 'process', values: process },
  ] as const
  const find = (name: string): FoundVariable | undefined => {
    const source = inOrder.find((candidate) => Object.hasOwn(candidate.values, name))
    return source && { from: source.from, value: source.values[name] ?? '' }
  }
  return { find, inFile: values, errors }
}

interface FileReading {
  values: Readonly<Record<string, string>>
  errors: { file: string; message: string }[]
}

async function readFiles(root: string, environment: string): Promise<FileReading> {
  const paths = FILES.map((name) => join(environment, name))
  const read = await Promise.all(paths.map((path) => readFileBelow(root, path)))
  const found = read.filter((file) => !('error' in file && file.isMissing))
  const [file, other] = found
  if (!file) return { values: {}, errors: [] }
  if (other) return failed(other.file, `is there beside ${FILES[0]}: keep one of them`)
  if ('error' in file) return failed(file.file, file.error)
  const parsed = parse(file.text)
  return typeof parsed === 'string' ? failed(file.file, parsed) : { values: parsed, errors: [] }
}

const failed = (file: string, message: string): FileReading => ({ values: {}, errors: [{ file, message }] })

/** The variables, or what is wrong with the text. Never quotes it: it is full of secrets. */
function parse(text: string): Record<string, string> | string {
  const { document, place, mistakes } = checkYaml(text)
  const [mistake] = mistakes
  if (mistake) return mistake.place ? at(mistake.place, mistake.message) : mistake.message
  const map = document?.contents
  if (!map || isNothing(map)) return {}
  if (!isMap(map)) return 'must be names with values, such as API_KEY: abc'
  const wrong = map.items.find((pair) => !isVariable(pair))
  if (wrong) return at(place(wrong.key), 'must be a name (letters, digits and _) with a text, a number, true or false')
  return Object.fromEntries(map.items.flatMap(toVariable))
}

const at = ({ line, column }: { line: number; column: number }, message: string) =>
  `line ${line}, column ${column}: ${message}`

function isVariable({ key, value }: Pair): boolean {
  const isNamed = isScalar(key) && VARIABLE_NAME.test(String(key.value))
  return isNamed && (isNothing(value) || (isScalar(value) && typeof value.value !== 'object'))
}

const isNothing = (value: unknown) => value === null || (isScalar(value) && value.value === null)

/** A name without a value is still to be filled in: as if it were not there. */
function toVariable({ key, value }: Pair): [string, string][] {
  return isScalar(value) && !isNothing(value) ? [[String((key as Scalar).value), asWritten(value)]] : []
}

/** `0123` and `1.10` are numbers to YAML, and passwords to people. */
const asWritten = (scalar: Scalar): string =>
  typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value))
