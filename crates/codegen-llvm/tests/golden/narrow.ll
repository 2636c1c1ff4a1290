define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <16 x i1>, align 2
  %16 = alloca i64, align 8
  %17 = alloca i64, align 8
  %18 = alloca i64, align 8
  %19 = alloca i64, align 8
  %20 = alloca i64, align 8
  %21 = alloca i64, align 8
  %22 = alloca i64, align 8
  %23 = alloca i64, align 8
  %24 = alloca <16 x i1>, align 2
  %25 = alloca <16 x i1>, align 2
  %26 = alloca <16 x i1>, align 2
  %27 = alloca ptr, align 8
  %28 = alloca ptr, align 8
  br label %29

29:
  %30 = load i32, ptr %1, align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr i8, ptr %1, i64 4
  %33 = load i32, ptr %32, align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr i8, ptr %1, i64 8
  %36 = load i32, ptr %35, align 4
  %37 = zext i32 %36 to i64
  %38 = getelementptr i8, ptr %1, i64 16
  %39 = load i32, ptr %38, align 4
  %40 = zext i32 %39 to i64
  %41 = getelementptr i8, ptr %1, i64 20
  %42 = load i32, ptr %41, align 4
  %43 = zext i32 %42 to i64
  %44 = getelementptr i8, ptr %1, i64 24
  %45 = load i32, ptr %44, align 4
  %46 = zext i32 %45 to i64
  %47 = getelementptr i8, ptr %1, i64 32
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr i8, ptr %1, i64 40
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr i8, ptr %1, i64 48
  %52 = load i64, ptr %51, align 8
  %53 = getelementptr i8, ptr %1, i64 28
  %54 = load i32, ptr %53, align 4
  %55 = zext i32 %54 to i64
  %56 = getelementptr i8, ptr %1, i64 12
  %57 = load i32, ptr %56, align 4
  %58 = zext i32 %57 to i64
  %59 = getelementptr i8, ptr %1, i64 72
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr i8, ptr %1, i64 56
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr i8, ptr %4, i64 %62
  %64 = load i64, ptr %0, align 8
  %65 = getelementptr i8, ptr %4, i64 %64
  %66 = getelementptr i8, ptr %0, i64 8
  %67 = load i32, ptr %66, align 4
  %68 = add i64 %2, %3
  %69 = getelementptr i8, ptr %1, i64 80
  %70 = load ptr, ptr %69, align 8
  store i8 0, ptr %6, align 1
  %71 = icmp eq ptr %70, null
  %72 = select i1 %71, ptr %6, ptr %70
  br label %73

73:
  %74 = phi i64 [ %2, %29 ], [ %91, %90 ]
  %75 = icmp ult i64 %74, %68
  br i1 %75, label %76, label %92

76:
  %77 = load atomic i8, ptr %72 monotonic, align 1
  %78 = icmp ne i8 %77, 0
  br i1 %78, label %92, label %79

79:
  %80 = udiv i64 %74, %40
  %81 = urem i64 %74, %40
  %82 = urem i64 %80, %43
  %83 = udiv i64 %80, %43
  %84 = mul i64 %81, %31
  %85 = add i64 %84, %48
  %86 = mul i64 %82, %34
  %87 = add i64 %86, %50
  %88 = mul i64 %83, %37
  %89 = add i64 %88, %52
  br label %93

90:
  %91 = add i64 %74, 1
  br label %73

92:
  ret void

93:
  store i64 0, ptr %10, align 8
  br label %95

94:
  store i64 0, ptr %18, align 8
  br label %157

95:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %96

96:
  store i64 0, ptr %8, align 8
  br label %97

97:
  %98 = load i64, ptr %8, align 8
  %99 = sub i64 %31, %98
  %100 = icmp uge i64 %99, 16
  br i1 %100, label %113, label %126

101:
  br label %135

102:
  %103 = load i64, ptr %9, align 8
  %104 = add i64 %103, 1
  store i64 %104, ptr %9, align 8
  %105 = load i64, ptr %9, align 8
  %106 = icmp ult i64 %105, %34
  br i1 %106, label %96, label %107

107:
  %108 = load i64, ptr %10, align 8
  %109 = add i64 %108, 1
  store i64 %109, ptr %10, align 8
  %110 = load i64, ptr %10, align 8
  %111 = icmp ult i64 %110, %37
  br i1 %111, label %95, label %112

112:
  br label %94

113:
  %114 = load i64, ptr %8, align 8
  %115 = load i64, ptr %9, align 8
  %116 = load i64, ptr %10, align 8
  %117 = mul i64 %116, %34
  %118 = add i64 %117, %115
  %119 = mul i64 %118, %31
  %120 = add i64 %119, %114
  store <16 x i1> zeroinitializer, ptr %15, align 2
  br label %128

121:
  %122 = load i64, ptr %8, align 8
  %123 = add i64 %122, 16
  store i64 %123, ptr %8, align 8
  %124 = load i64, ptr %8, align 8
  %125 = icmp ult i64 %124, %31
  br i1 %125, label %97, label %102

126:
  %127 = load i64, ptr %8, align 8
  store i64 %127, ptr %11, align 8
  store i64 %31, ptr %12, align 8
  br label %101

128:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %129 = mul i64 %114, 4
  %130 = getelementptr i8, ptr %65, i64 %129
  %131 = trunc i64 %114 to i32
  %132 = insertelement <16 x i32> poison, i32 %131, i32 0
  %133 = shufflevector <16 x i32> %132, <16 x i32> poison, <16 x i32> zeroinitializer
  %134 = add <16 x i32> %133, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  store <16 x i32> %134, ptr %130, align 4
  store i32 1, ptr %7, align 4
  br label %121

135:
  %136 = load i64, ptr %11, align 8
  %137 = load i64, ptr %9, align 8
  %138 = load i64, ptr %10, align 8
  %139 = mul i64 %138, %34
  %140 = add i64 %139, %137
  %141 = mul i64 %140, %31
  %142 = add i64 %141, %136
  br label %153

143:
  %144 = load i64, ptr %11, align 8
  %145 = add i64 %144, 1
  store i64 %145, ptr %11, align 8
  %146 = load i64, ptr %11, align 8
  %147 = load i64, ptr %12, align 8
  %148 = icmp ult i64 %146, %147
  br i1 %148, label %135, label %149

149:
  %150 = load i64, ptr %12, align 8
  store i64 %150, ptr %8, align 8
  %151 = load i64, ptr %12, align 8
  %152 = icmp ult i64 %151, %31
  br i1 %152, label %97, label %102

153:
  %154 = mul i64 %136, 4
  %155 = getelementptr i8, ptr %65, i64 %154
  %156 = trunc i64 %136 to i32
  store i32 %156, ptr %155, align 4
  store i32 1, ptr %7, align 4
  br label %143

157:
  store i64 0, ptr %17, align 8
  store i64 0, ptr %23, align 8
  br label %158

158:
  store i64 0, ptr %16, align 8
  %159 = load i64, ptr %17, align 8
  %160 = load i64, ptr %18, align 8
  %161 = mul i64 %160, %34
  %162 = add i64 %161, %159
  %163 = mul i64 %162, %31
  %164 = add i64 %163, 0
  %165 = or i64 %159, %160
  %166 = icmp eq i64 %165, 0
  %167 = add i64 %31, 15
  %168 = udiv i64 %167, 16
  %169 = sub i64 %168, 1
  %170 = mul i64 %169, 16
  %171 = add i64 %170, 15
  %172 = add i64 0, %171
  %173 = icmp ule i64 %172, 4294967295
  %174 = zext i32 %67 to i64
  %175 = icmp ult i64 0, %174
  %176 = sub i64 %174, 0
  %177 = sub i64 %176, 1
  %178 = udiv i64 %177, 16
  %179 = add i64 %178, 1
  %180 = select i1 %175, i64 %179, i64 0
  %181 = select i1 %173, i64 %180, i64 %168
  %182 = call i64 @llvm.umin.i64(i64 %168, i64 %181)
  %183 = icmp uge i64 0, %182
  %184 = select i1 %183, i64 0, i64 0
  %185 = zext i1 %166 to i64
  %186 = select i1 %183, i64 %185, i64 %182
  %187 = mul i64 %186, 16
  %188 = call i64 @llvm.umin.i64(i64 %187, i64 %31)
  %189 = mul i64 %184, 16
  store i64 %189, ptr %16, align 8
  store i64 %188, ptr %21, align 8
  %190 = icmp ult i64 %189, %188
  br i1 %190, label %208, label %197

191:
  %192 = load i64, ptr %21, align 8
  %193 = load i64, ptr %16, align 8
  %194 = sub i64 %192, %193
  %195 = icmp uge i64 %194, 16
  br i1 %195, label %209, label %234

196:
  br label %260

197:
  %198 = load i64, ptr %17, align 8
  %199 = add i64 %198, 1
  store i64 %199, ptr %17, align 8
  %200 = load i64, ptr %17, align 8
  %201 = icmp ult i64 %200, %34
  br i1 %201, label %158, label %202

202:
  %203 = load i64, ptr %18, align 8
  %204 = add i64 %203, 1
  store i64 %204, ptr %18, align 8
  %205 = load i64, ptr %18, align 8
  %206 = icmp ult i64 %205, %37
  br i1 %206, label %157, label %207

207:
  br label %90

208:
  br label %191

209:
  %210 = load i64, ptr %16, align 8
  %211 = load i64, ptr %17, align 8
  %212 = load i64, ptr %18, align 8
  %213 = mul i64 %212, %34
  %214 = add i64 %213, %211
  %215 = mul i64 %214, %31
  %216 = add i64 %215, %210
  %217 = insertelement <16 x i64> poison, i64 %210, i32 0
  %218 = shufflevector <16 x i64> %217, <16 x i64> poison, <16 x i32> zeroinitializer
  %219 = add <16 x i64> %218, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %220 = trunc <16 x i64> %219 to <16 x i32>
  %221 = insertelement <16 x i32> poison, i32 %67, i32 0
  %222 = shufflevector <16 x i32> %221, <16 x i32> poison, <16 x i32> zeroinitializer
  %223 = icmp ult <16 x i32> %220, %222
  %224 = bitcast <16 x i1> %223 to i16
  %225 = icmp eq i16 %224, 0
  %226 = icmp eq i16 %224, -1
  %227 = or i1 %225, %226
  br i1 %227, label %237, label %238

228:
  %229 = load i64, ptr %16, align 8
  %230 = add i64 %229, 16
  store i64 %230, ptr %16, align 8
  %231 = load i64, ptr %16, align 8
  %232 = load i64, ptr %21, align 8
  %233 = icmp ult i64 %231, %232
  br i1 %233, label %191, label %197

234:
  %235 = load i64, ptr %16, align 8
  store i64 %235, ptr %19, align 8
  %236 = load i64, ptr %21, align 8
  store i64 %236, ptr %20, align 8
  br label %196

237:
  store <16 x i1> zeroinitializer, ptr %24, align 2
  store <16 x i1> zeroinitializer, ptr %25, align 2
  store <16 x i1> zeroinitializer, ptr %26, align 2
  br label %241

238:
  %239 = load i64, ptr %16, align 8
  store i64 %239, ptr %19, align 8
  %240 = add i64 %239, 16
  store i64 %240, ptr %20, align 8
  br label %196

241:
  store <16 x i1> zeroinitializer, ptr %24, align 2
  %242 = trunc i64 %210 to i32
  %243 = insertelement <16 x i32> poison, i32 %242, i32 0
  %244 = shufflevector <16 x i32> %243, <16 x i32> poison, <16 x i32> zeroinitializer
  %245 = add <16 x i32> %244, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %246 = insertelement <16 x i32> poison, i32 %67, i32 0
  %247 = shufflevector <16 x i32> %246, <16 x i32> poison, <16 x i32> zeroinitializer
  %248 = icmp ult <16 x i32> %245, %247
  %249 = mul i64 %210, 4
  %250 = getelementptr i8, ptr %65, i64 %249
  store ptr %250, ptr %27, align 8
  %251 = trunc i64 %210 to i32
  %252 = icmp ult i32 %251, %67
  br i1 %252, label %258, label %259

253:
  store <16 x i1> zeroinitializer, ptr %25, align 2
  %254 = load ptr, ptr %27, align 8
  %255 = insertelement <16 x i32> poison, i32 %67, i32 0
  %256 = shufflevector <16 x i32> %255, <16 x i32> poison, <16 x i32> zeroinitializer
  store <16 x i32> %256, ptr %254, align 4
  br label %257

257:
  store <16 x i1> zeroinitializer, ptr %26, align 2
  store i32 -1, ptr %7, align 4
  br label %228

258:
  br label %253

259:
  br label %257

260:
  %261 = load i64, ptr %19, align 8
  %262 = load i64, ptr %17, align 8
  %263 = load i64, ptr %18, align 8
  %264 = mul i64 %263, %34
  %265 = add i64 %264, %262
  %266 = mul i64 %265, %31
  %267 = add i64 %266, %261
  br label %279

268:
  %269 = load i64, ptr %19, align 8
  %270 = add i64 %269, 1
  store i64 %270, ptr %19, align 8
  %271 = load i64, ptr %19, align 8
  %272 = load i64, ptr %20, align 8
  %273 = icmp ult i64 %271, %272
  br i1 %273, label %260, label %274

274:
  %275 = load i64, ptr %20, align 8
  store i64 %275, ptr %16, align 8
  %276 = load i64, ptr %20, align 8
  %277 = load i64, ptr %21, align 8
  %278 = icmp ult i64 %276, %277
  br i1 %278, label %191, label %197

279:
  %280 = trunc i64 %261 to i32
  %281 = icmp ult i32 %280, %67
  %282 = mul i64 %261, 4
  %283 = getelementptr i8, ptr %65, i64 %282
  store ptr %283, ptr %28, align 8
  br i1 %281, label %287, label %288

284:
  %285 = load ptr, ptr %28, align 8
  store i32 %67, ptr %285, align 4
  br label %286

286:
  store i32 -1, ptr %7, align 4
  br label %268

287:
  br label %284

288:
  br label %286
