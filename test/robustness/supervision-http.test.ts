// Calls over HTTP that were executed and whose answer went wrong: they are made once, whatever the failure looks like.
import { describe, expect, test } from 'vitest'
import { networkFailure } from '../../src/tools/connection/http/network-failure.ts'
import { type Payment, type Shop, startShop } from '../support/shop-server.ts'
import { watchSocketsOfFetch } from '../support/sockets-of-fetch.ts'
import { openSupervisorHouse } from '../support/supervisor-house.ts'

/** The failure of a payment, and how often the shop was paid. */
async function pay(shop: Shop): Promise<{ kind: string; message: string; paid: number }> {
  await using house = await openSupervisorHouse()
  await house.servers({ shop: { url: shop.url, timeout_seconds: 10 } })
  expect(await house.supervisor.sync(house.environment, 'all')).toEqual([])
  const { kind, message } = await house.call('shop', 'pay').then(
    () => ({ kind: 'no failure', message: '' }),
    (error) => error,
  )
  return { kind, message, paid: shop.paid() }
}

describe('a connection that fails after the call was executed', () => {
  test('because the server resets it does not repeat the call', async () => {
    await using shop = await startShop(({ response }) => void response.socket?.resetAndDestroy())
    expect(await pay(shop)).toMatchObject({ kind: 'lost', paid: 1 })
  })

  test.for(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])(
    'because the host has vanished (%s) does not repeat the call',
    async (code) => {
      using sockets = watchSocketsOfFetch()
      await using shop = await startShop(() => sockets.fail(code))
      expect(await pay(shop)).toMatchObject({ kind: 'lost', paid: 1 })
    },
  )

  const kindOf = (code: string, syscall?: string) => {
    const cause = Object.assign(new Error(`${syscall} ${code}`), { code, ...(syscall && { syscall }) })
    return networkFailure(new TypeError('fetch failed', { cause }), 'request')?.kind
  }

  test.for([
    ['ETIMEDOUT', 'read'],
    ['EHOSTUNREACH', 'read'],
    ['ENETUNREACH', 'write'],
    ['ECONNRESET', 'read'],
    ['ECONNREFUSED', 'read'],
    ['EPIPE', 'write'],
    ['EPROTO', 'write'],
    ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', undefined],
    ['UND_ERR_SOCKET', undefined],
  ] as const)('%s during %s leaves open what happened', ([code, syscall]) => {
    expect(kindOf(code, syscall)).toBe('lost')
  })

  test.for([
    ['ETIMEDOUT', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['ENETUNREACH', 'connect'],
    ['ECONNREFUSED', 'connect'],
    ['ECONNRESET', 'connect'],
    ['ENOTFOUND', 'getaddrinfo'],
    ['EAI_AGAIN', 'getaddrinfo'],
    ['UND_ERR_CONNECT_TIMEOUT', undefined],
    ['CERT_HAS_EXPIRED', undefined],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined],
  ] as const)('%s during %s means that nothing was asked', ([code, syscall]) => {
    expect(kindOf(code, syscall)).toBe('unreachable')
  })
})

describe('an error of a tool that speaks of a session', () => {
  const refused: Record<string, (payment: Payment) => void> = {
    'status 400': ({ answer }) =>
      answer({ error: { code: -32_000, message: 'no page for session id 42 any more; the order was sent' } }, 400),
    'error -32001': ({ answer }) =>
      answer({ error: { code: -32_001, message: 'Browser session not found after the order was sent' } }),
  }

  test.for(Object.keys(refused))('with %s is an answer, and the call is not repeated', async (how) => {
    await using shop = await startShop((payment) => refused[how]?.(payment))
    const outcome = await pay(shop)
    expect(outcome).toMatchObject({ kind: 'refused', paid: 1 })
    expect(outcome.message).toContain('the order was sent')
  })
})
