/* SQLite databases for the library: statements with values, rows as lists. What SQLite refuses is a user error
 * that names the file and the statement. */
#include "core/lua/bindings.h"

#include <sqlite3.h>
#include <string.h>

static const char database_type[] = "warpwright.database", statement_type[] = "warpwright.statement";

typedef struct {
    sqlite3 *handle; /* NULL: closed */
    char path[];
} Database;

/* The database is its first user value, so that it lives as long. */
typedef struct {
    sqlite3_stmt *handle; /* NULL: closed */
    Database *of;
} Statement;

static Database *database_at(lua_State *L, int index) {
    Database *database = luaL_checkudata(L, index, database_type);
    raise_user_errors_in(L);
    if (!database->handle) user_error("%s: the database is closed", database->path);
    return database;
}

_Noreturn static void refuse(const Database *database, const char *sql) {
    int code = sqlite3_errcode(database->handle) & 0xff;
    bool is_of_statement = code == SQLITE_ERROR || code == SQLITE_CONSTRAINT || code == SQLITE_READONLY;
    const char *shown = is_of_statement ? sql : NULL;
    user_error("%s: %s%s%s", database->path, sqlite3_errmsg(database->handle), shown ? ", in: " : "",
               shown ? shown : "");
}

/* path_matches(pattern, path), also in statements of users. */
static void sql_path_matches(sqlite3_context *context, int count, sqlite3_value **values) {
    const char *pattern = (const char *)sqlite3_value_text(values[0]);
    const char *path = (const char *)sqlite3_value_text(values[1]);
    (void)count;
    if (pattern && path) sqlite3_result_int(context, path_matches(pattern, path));
}

/* core.open_database(path, writable): a new file where there is none and it is writable */
static int l_open(lua_State *L) {
    size_t length;
    const char *path = luaL_checklstring(L, 1, &length);
    int flags = lua_toboolean(L, 2) ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    raise_user_errors_in(L);
    Database *database = lua_newuserdatauv(L, sizeof *database + length + 1, 0);
    database->handle = NULL;
    memcpy(database->path, path, length + 1);
    luaL_setmetatable(L, database_type);
    if (sqlite3_open_v2(path, &database->handle, flags, NULL) == SQLITE_OK) {
        /* A name in double quotes that is none is an error, not a text. */
        sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
        sqlite3_create_function(database->handle, "path_matches", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                sql_path_matches, NULL, NULL);
        return 1;
    }
    lua_pushstring(L, sqlite3_errmsg(database->handle));
    sqlite3_close_v2(database->handle);
    database->handle = NULL;
    user_error("%s: expected a database, got: %s", path, lua_tostring(L, -1));
}

/* Statements that are still there keep it until they end. */
static int l_close(lua_State *L) {
    Database *database = luaL_checkudata(L, 1, database_type);
    sqlite3_close_v2(database->handle);
    database->handle = NULL;
    return 0;
}

/* database:execute(sql): statements without values and rows */
static int l_execute(lua_State *L) {
    Database *database = database_at(L, 1);
    const char *sql = luaL_checkstring(L, 2);
    if (sqlite3_exec(database->handle, sql, NULL, NULL, NULL) != SQLITE_OK) refuse(database, sql);
    return 0;
}

/* database:prepare(sql) -> statement */
static int l_prepare(lua_State *L) {
    Database *database = database_at(L, 1);
    const char *sql = luaL_checkstring(L, 2), *rest = "";
    Statement *statement = lua_newuserdatauv(L, sizeof *statement, 1);
    *statement = (Statement){NULL, database};
    luaL_setmetatable(L, statement_type);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    if (sqlite3_prepare_v2(database->handle, sql, -1, &statement->handle, &rest) != SQLITE_OK)
        refuse(database, sql);
    if (!statement->handle || rest[strspn(rest, " \t\r\n;")])
        user_error("%s: expected one statement of SQL, got: %s", database->path, sql);
    return 1;
}

static Statement *statement_at(lua_State *L, int index) {
    Statement *statement = luaL_checkudata(L, index, statement_type);
    raise_user_errors_in(L);
    if (!statement->handle || !statement->of->handle)
        user_error("%s: the database is closed", statement->of->path);
    return statement;
}

static int l_finish(lua_State *L) {
    Statement *statement = luaL_checkudata(L, 1, statement_type);
    sqlite3_finalize(statement->handle);
    statement->handle = NULL;
    return 0;
}

static int bind_value(lua_State *L, sqlite3_stmt *statement, int at, int index) {
    size_t length;
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        return lua_isinteger(L, index) ? sqlite3_bind_int64(statement, at, lua_tointeger(L, index))
                                       : sqlite3_bind_double(statement, at, lua_tonumber(L, index));
    case LUA_TBOOLEAN: return sqlite3_bind_int(statement, at, lua_toboolean(L, index));
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, index, &length);
        return sqlite3_bind_text64(statement, at, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    default: return sqlite3_bind_null(statement, at);
    }
}

/* Values from the second argument on. */
static void bind_arguments(lua_State *L, const Statement *statement) {
    int wanted = sqlite3_bind_parameter_count(statement->handle), count = lua_gettop(L) - 1;
    sqlite3_reset(statement->handle);
    if (count > wanted) user_error("%s: expected %d values, got %d", statement->of->path, wanted, count);
    for (int i = 1; i <= wanted; i++)
        if (bind_value(L, statement->handle, i, i + 1) != SQLITE_OK) refuse(statement->of, NULL);
}

/* statement:run(value, ...): of which no rows come */
static int l_run(lua_State *L) {
    const Statement *statement = statement_at(L, 1);
    bind_arguments(L, statement);
    int result = sqlite3_step(statement->handle);
    sqlite3_reset(statement->handle);
    if (result != SQLITE_DONE && result != SQLITE_ROW) refuse(statement->of, sqlite3_sql(statement->handle));
    return 0;
}

static void push_column(lua_State *L, sqlite3_stmt *statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: lua_pushinteger(L, sqlite3_column_int64(statement, column)); break;
    case SQLITE_FLOAT: lua_pushnumber(L, sqlite3_column_double(statement, column)); break;
    case SQLITE_NULL: lua_pushnil(L); break;
    default: {
        const char *text = sqlite3_column_blob(statement, column);
        lua_pushlstring(L, text ? text : "", (size_t)sqlite3_column_bytes(statement, column));
    }
    }
}

/* statement:rows(value, ...) -> list of rows, each a list with n; NULL is nil */
static int l_rows(lua_State *L) {
    const Statement *statement = statement_at(L, 1);
    bind_arguments(L, statement);
    int columns = sqlite3_column_count(statement->handle), result;
    lua_newtable(L);
    for (lua_Integer row = 1; (result = sqlite3_step(statement->handle)) == SQLITE_ROW; row++) {
        lua_createtable(L, columns, 1);
        for (int column = 0; column < columns; column++) {
            push_column(L, statement->handle, column);
            lua_rawseti(L, -2, column + 1);
        }
        lua_pushinteger(L, columns);
        lua_setfield(L, -2, "n");
        lua_rawseti(L, -2, row);
    }
    sqlite3_reset(statement->handle);
    if (result != SQLITE_DONE) refuse(statement->of, sqlite3_sql(statement->handle));
    return 1;
}

/* statement:columns() -> their names */
static int l_columns(lua_State *L) {
    const Statement *statement = statement_at(L, 1);
    lua_newtable(L);
    for (int column = 0; column < sqlite3_column_count(statement->handle); column++) {
        lua_pushstring(L, sqlite3_column_name(statement->handle, column));
        lua_rawseti(L, -2, column + 1);
    }
    return 1;
}

void database_open(lua_State *L) {
    static const luaL_Reg database_meta[] = {{"__gc", l_close}, {"__close", l_close}, {NULL, NULL}};
    static const luaL_Reg database_methods[] = {
        {"execute", l_execute}, {"prepare", l_prepare}, {"close", l_close}, {NULL, NULL}};
    static const luaL_Reg statement_meta[] = {{"__gc", l_finish}, {"__close", l_finish}, {NULL, NULL}};
    static const luaL_Reg statement_methods[] = {
        {"run", l_run}, {"rows", l_rows}, {"columns", l_columns}, {"finish", l_finish}, {NULL, NULL}};
    static const luaL_Reg functions[] = {{"open_database", l_open}, {NULL, NULL}};
    define_type(L, database_type, database_meta, database_methods);
    define_type(L, statement_type, statement_meta, statement_methods);
    luaL_setfuncs(L, functions, 0);
}
