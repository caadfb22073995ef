// Scenarios that fail because the product does not offer what they are about. Nothing else may fail, and none of these
// may pass without being taken off the list.

const EXPECTED_FAILURES: Readonly<Record<string, readonly string[]>> = {
  'No person sits at a run, so nobody can be asked: elicitation is not declared, and refused.': [
    'elicitation-sep1034-client-defaults',
    'sep-2322-client-request-state',
  ],
  'Towards remote servers there is no OAuth: a server file has the headers that its server wants.': [
    'auth/authorization-server-migration',
    'auth/basic-cimd',
    'auth/client-credentials-basic',
    'auth/client-credentials-jwt',
    'auth/dpop',
    'auth/dpop-nonce',
    'auth/enterprise-managed-authorization',
    'auth/iss-normalized',
    'auth/iss-not-advertised',
    'auth/iss-supported',
    'auth/iss-supported-missing',
    'auth/iss-unexpected',
    'auth/iss-wrong-issuer',
    'auth/metadata-default',
    'auth/metadata-issuer-mismatch',
    'auth/metadata-var1',
    'auth/metadata-var2',
    'auth/metadata-var3',
    'auth/offline-access-not-supported',
    'auth/offline-access-scope',
    'auth/pre-registration',
    'auth/resource-mismatch',
    'auth/scope-from-scopes-supported',
    'auth/scope-from-www-authenticate',
    'auth/scope-omitted-when-undefined',
    'auth/scope-retry-limit',
    'auth/scope-step-up',
    'auth/token-endpoint-auth-basic',
    'auth/token-endpoint-auth-none',
    'auth/token-endpoint-auth-post',
    'auth/wif-jwt-bearer',
  ],
}

/** The reason, for a scenario that is expected to fail. */
export function whyItFails(scenario: string): string | undefined {
  return Object.entries(EXPECTED_FAILURES).find(([, scenarios]) => scenarios.includes(scenario))?.[0]
}
